//! serenity's limiter against Discord over TLS: a 429 is waited for as told, a used-up bucket is not asked, and files of ours are sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use adapters::config::Config;
use adapters::discord::{self, Elsewhere};
use adapters::serve::chat::{Chat, Failure, Sending};
use bot::place::{Channel, Place};
use bot::reply::Reply;
use bot::store::outbox::{File, PostKey};
use bot::text::Text;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::fake::{CHANNEL, Fake, Fault, GUILD, TOKEN};

/// A server's certificate for discord.com, and the authority that vouches for it.
fn certificate() -> (ServerConfig, Vec<u8>) {
    let authority_key = KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::new(Vec::new()).expect("it can be asked for");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let whole = authority
        .self_signed(&authority_key)
        .expect("a certificate");
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().expect("a key");
    let named = CertificateParams::new(vec!["discord.com".into()]).expect("it can be asked for");
    let named = named.signed_by(&key, &issuer).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the usual versions")
        .with_no_client_auth()
        .with_single_cert(vec![named.der().clone()], key)
        .expect("they belong together");
    (config, whole.pem().into_bytes())
}

struct Limited {
    runtime: tokio::runtime::Runtime,
    fake: Fake,
    chat: Arc<dyn Chat>,
}

fn limited() -> Limited {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("tasks can run");
    let (config, authority) = certificate();
    let fake = runtime.block_on(Fake::start_with(Some(TlsAcceptor::from(Arc::new(config)))));
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("token"), TOKEN).expect("a file can be written");
    let text = format!(
        "store = \"store\"\n[dns]\ncheck_domains = false\n[discord]\ntoken = {{ file = \"token\" }}\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.discord]]\nserver = \"{GUILD}\"\nwatch = [\"{CHANNEL}\"]\n"
    );
    let config = Config::parse(&text, folder.path()).unwrap_or_else(|faults| panic!("{faults:?}"));
    let elsewhere = Elsewhere {
        at: fake.at,
        authority,
    };
    let chat = discord::chat_elsewhere(&config, Some(&elsewhere));
    let chat = Arc::new(chat.unwrap_or_else(|error| panic!("{error:#}")));
    Limited {
        runtime,
        fake,
        chat,
    }
}

impl Limited {
    fn send(&self, key: &str, files: &[File]) -> Result<String, Failure> {
        let place = Place {
            channel: Channel {
                chat: "discord".into(),
                space: GUILD.into(),
                id: CHANNEL.into(),
            },
            thread: None,
        };
        let reply = Reply {
            title: Text::default().and("A title"),
            ..Reply::default()
        };
        let key = PostKey(key.into());
        self.runtime.block_on(self.chat.send(Sending {
            key: &key,
            place: &place,
            reply: &reply,
            files,
        }))
    }

    fn fault(&self, body: Value, headers: &'static str) {
        self.fake.state().faults.push_back(Fault {
            method: "POST",
            path: "/messages",
            status: 429,
            body,
            headers,
            lost: false,
        });
    }
}

#[test]
fn a_429_is_waited_for_as_it_was_told() {
    let limited = limited();
    limited.fault(
        json!({ "message": "slow", "retry_after": 0.7, "global": false }),
        "Retry-After: 0.7\r\nX-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset-After: 0.7\r\n",
    );
    let begun = Instant::now();
    limited
        .send("one", &[])
        .unwrap_or_else(|why| panic!("{why}"));
    assert!(begun.elapsed() >= Duration::from_millis(650));
    let asked = limited.fake.asked("POST", "/messages");
    assert_eq!(asked.len(), 2, "refused once, then sent");
}

#[test]
fn a_bucket_that_is_used_up_is_not_asked() {
    let limited = limited();
    limited.fake.state().headers =
        "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset-After: 30\r\n";
    limited
        .send("one", &[])
        .unwrap_or_else(|why| panic!("{why}"));
    let begun = Instant::now();
    let Err(Failure::Slow { wait, everywhere }) = limited.send("two", &[]) else {
        panic!("it must say how long to wait")
    };
    assert!(wait > Duration::from_secs(20) && !everywhere, "{wait:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "said at once");
    assert_eq!(limited.fake.asked("POST", "/messages").len(), 1);
}

#[test]
fn files_of_ours_go_with_their_message() {
    let limited = limited();
    let file = |name: &str, text: &str| File {
        name: name.into(),
        bytes: text.into(),
    };
    let files = [
        file("one\"\r\n.txt", "--boundary-- and so on"),
        file("two.txt", "2"),
    ];
    limited
        .send("one", &files)
        .unwrap_or_else(|why| panic!("{why}"));
    let state = limited.fake.state();
    let sent = state.requests.last().expect("a request");
    let names: Vec<&str> = sent.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["files[0]", "files[1]"]);
    assert_eq!(sent.files[0].1, b"--boundary-- and so on");
    assert_eq!(sent.body["attachments"][0]["filename"], "one.txt");
    let complaints = super::schema::complaints(&state.requests).unwrap_or_default();
    crate::support::no_complaints(&complaints);
}
