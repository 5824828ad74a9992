import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Agent } from 'undici'

/*
 * The baseline of `deliveries`: a loop of undici POSTs of the same size to the same receivers, with nothing else. Runs
 * once, when a connection arrives, and returns how many responses arrived in how many seconds.
 */
const { BARE_PORT = '0', BARE_URLS = '[]', BARE_IN_FLIGHT = '400', BARE_SECONDS = '4' } = process.env
const urls = (JSON.parse(BARE_URLS) as string[]).map((url) => new URL(url))
const body = randomBytes(1_024).toString('hex')
const agent = new Agent({ connections: 32, pipelining: 1 })

const server = createServer((_request, response) => {
  void run().then((result) => response.end(JSON.stringify(result)))
})
server.listen(Number(BARE_PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))

async function run(): Promise<{ readonly posts: number; readonly seconds: number }> {
  const startedAt = performance.now()
  const until = startedAt + Number(BARE_SECONDS) * 1_000
  let posts = 0
  const line = async (index: number): Promise<void> => {
    const url = urls[index % urls.length]
    while (url !== undefined && performance.now() < until) {
      const headers = { 'content-type': 'application/json' }
      const answer = await agent.request({ origin: url.origin, path: url.pathname, method: 'POST', headers, body })
      await answer.body.dump()
      posts += 1
    }
  }
  await Promise.all(Array.from({ length: Number(BARE_IN_FLIGHT) }, (_, index) => line(index)))
  return { posts, seconds: (performance.now() - startedAt) / 1_000 }
}
