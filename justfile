# All that one does here. `just` alone lists it.

# Where real bounces lie; the folder stands beside the checkout.
raw := "../shared/corpora/raw"

_list:
    @just --list --unsorted

# Run the program: just run explain mail.eml
[positional-arguments]
run *ARGUMENTS:
    @cargo run --release --quiet -- "$@"

# Every test (the README's second command)
[positional-arguments]
test *ARGUMENTS:
    cargo test --workspace "$@"

# Rewrite the expected files; read what changed before you commit it
bless:
    BLESS=1 cargo test --workspace
    git diff --stat -- tests knowledge

# Exactly what CI runs
check:
    bash .ci/run

# Write knowledge/schema.json anew
schema:
    cargo run --quiet -- knowledge schema > knowledge/schema.json.new
    mv knowledge/schema.json.new knowledge/schema.json

# Messages per second beside the MIME parser alone
bench FOLDER=raw:
    cargo run --release --quiet -- bench {{quote(FOLDER)}}

# Time per domain at 20 ms a question, zone by zone, beside the floor (needs nsd and unbound)
bench-dns:
    cargo bench --bench domains

# Answers to bounces over Slack and Discord: time to the acknowledgement and to the post, memory after 10,000
bench-chats:
    cargo bench --bench slack --bench discord

# Throw broken and made-up mail at the reader and at the whole route
fuzz ITERATIONS="300000":
    BOUNCEDESK_FUZZ={{ITERATIONS}} cargo test --release -p adapters -p fuzz --test fuzz -- --nocapture

# The long proofs, whole (ten million executions, a fresh seed; 200 kills, 50 power cuts; 200,000 rows traced; chats cut and killed); CI runs a part of them
prove:
    BOUNCEDESK_KILLS=200 BOUNCEDESK_CUTS=50 BOUNCEDESK_MODELS=500 cargo test --test all -- store audit --nocapture
    BOUNCEDESK_INTERLEAVINGS=100000 BOUNCEDESK_KILLS=200 cargo test --test all -- tickets serve::kills --nocapture
    BOUNCEDESK_TRACE=200000 cargo test --test all -- trace::many --nocapture
    BOUNCEDESK_KILLS=10 BOUNCEDESK_CUT_SECONDS=120 BOUNCEDESK_PASTES=1000 cargo test --test all -- burst --nocapture
    BOLERO_RANDOM_SEED=`date +%s` BOUNCEDESK_FUZZ=5000000 cargo test --release -p adapters -p fuzz --test fuzz -- --nocapture

# Licences, advisories, bans and sources of what we build on (needs cargo-deny and the advisory database)
deny:
    cargo deny check
