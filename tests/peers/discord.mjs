// Drives discord-digital-twin for tests/discord/peer.rs: `node discord.mjs MODULE` prints its addresses as a line of JSON, then
// answers each line of JSON on standard input, [method, argument], with one line. A file that is named there lies on an own port.
import http from 'node:http'
import readline from 'node:readline'

const { DigitalDiscord } = await import(process.argv[2])
const files = new Map()
const host = http.createServer((request, response) => {
  const file = files.get(request.url)
  response.statusCode = file === undefined ? 404 : 200
  response.end(file)
})
await new Promise((listening) => host.listen(0, '127.0.0.1', listening))

const twin = new DigitalDiscord({
  guild: { id: '110000000000000001', name: 'Desk', ownerId: '110000000000000011' },
  channels: [{ id: '110000000000000002', name: 'helpdesk', type: 0 }],
  users: [{ id: '110000000000000011', username: 'anna' }],
  botUser: { id: '110000000000000099', username: 'bouncedesk' },
  botToken: 'MTEwMDAwMDAwMDAwMDAwMDk5.made.up-for-tests',
})
await twin.start()
const own = {
  keep: ({ path, text }) => files.set(path, text) && true,
  messages: ({ channel }) => twin.channel(channel).getMessages(),
  threads: ({ channel }) => twin.channel(channel).getThreads(),
  told: ({ channel, interaction }) => twin.channel(channel).getInteractionResponse(interaction),
}
const say = (value) => process.stdout.write(JSON.stringify(value ?? null) + '\n')
say({ api: `http://127.0.0.1:${twin.port}`, gateway: twin.gatewayUrl, files: `127.0.0.1:${host.address().port}`, token: twin.botToken })
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [method, argument] = JSON.parse(line)
  try {
    say({ ok: await (own[method] ?? twin[method].bind(twin))(argument) })
  } catch (error) {
    say({ error: String(error) })
  }
}
process.exit()
