import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

/**
 * A node of the Bitcoin line with a full mempool, of which a hundred entries change with each listing. Run as its own process:
 * `node mempool-node.ts <entries> <port>`.
 */
const [entries = 0, port = 0] = process.argv.slice(2).map(Number)
const CHANGED = 100
const transactions = new Map<string, string>()
let made = 0

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** One input, one output to a script that nobody watches. */
function make(): void {
  const index = made++
  const raw = Buffer.concat([
    uint32(2),
    ...[Buffer.of(1), Buffer.alloc(32, 7), uint32(index), Buffer.of(0), uint32(0xff_ff_ff_fd)],
    ...[Buffer.of(1), Buffer.alloc(8, 1), Buffer.of(22, 0, 20), Buffer.alloc(20, index & 255), uint32(0)],
  ])
  transactions.set(
    Buffer.from(sha256(sha256(raw)))
      .reverse()
      .toString('hex'),
    raw.toString('hex'),
  )
}

function listing(): string {
  const leaving = [...transactions.keys()].slice(0, CHANGED)
  for (const txid of leaving) transactions.delete(txid)
  for (let index = 0; index < CHANGED; index += 1) make()
  return JSON.stringify([...transactions.keys()])
}

const BEST = 'ab'.repeat(32)
const info = { blocks: 900_000, headers: 900_000, bestblockhash: BEST, initialblockdownload: false }
const answers: Readonly<Record<string, (params: readonly unknown[]) => string>> = {
  getrawmempool: listing,
  getrawtransaction: ([txid]) => JSON.stringify(transactions.get(String(txid)) ?? null),
  getblockchaininfo: () =>
    JSON.stringify({ ...info, mediantime: Math.floor(Date.now() / 1_000), time: Math.floor(Date.now() / 1_000) }),
  getblockhash: () => JSON.stringify(BEST),
  getmempoolinfo: () => '{"loaded":true}',
  getconnectioncount: () => '8',
}

for (let index = 0; index < entries; index += 1) make()
createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { method, params, id } = JSON.parse(Buffer.concat(chunks).toString())
    const answer = answers[method]
    if (answer !== undefined) return response.end(`{"result":${answer(params)},"error":null,"id":${id}}`)
    response.statusCode = 500
    return response.end(`{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":${id}}`)
  })
}).listen(port, '127.0.0.1')
