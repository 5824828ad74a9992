import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { startRoundRobin } from './round-robin.ts'

const endings: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function answering(text: string): Promise<number> {
  const server = createServer((_request, response) => void response.setHeader('connection', 'close').end(text))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endings.push(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

it('shares connections evenly and goes past a process that is down', async () => {
  const port = await freePort(0)
  const balancer = await startRoundRobin(port, [await answering('one'), await freePort(0), await answering('three')])
  endings.push(balancer.stop)
  const answers: string[] = []
  for (let n = 0; n < 6; n += 1) {
    answers.push(await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).text())
  }
  expect(answers).toEqual(['one', 'three', 'three', 'one', 'three', 'three'])
})

it('breaks off when nobody answers', async () => {
  const port = await freePort(0)
  const balancer = await startRoundRobin(port, [await freePort(0)])
  endings.push(balancer.stop)
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
})
