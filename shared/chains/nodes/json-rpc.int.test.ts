import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { wireList } from '../families/wire-list.ts'
import { createJsonRpc } from './json-rpc.ts'
import { RpcDenial } from './rpc-failure.ts'

const UNCOUNTED = { metrics: { count: () => {}, gauge: () => {}, observe: () => {} }, labels: {} }
const ABSENT = { code: -5, message: 'No such transaction' }
const SLOW = { code: -7, message: 'slow down' }

let respond: (id: number) => string
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => response.end(respond((JSON.parse(Buffer.concat(chunks).toString()) as { id: number }).id)))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** One call to a node that answers `text`. */
async function call<T>(text: (id: number) => string, schema: z.ZodType<T>): Promise<T> {
  respond = text
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rpc = createJsonRpc({
    urls: [url],
    identify: async () => {},
    classify: ({ code }) => (code === ABSENT.code ? 'absent' : 'refused'),
    ...UNCOUNTED,
  })
  try {
    return await rpc.use((node) => node.call('balance', [], schema))
  } finally {
    await rpc.close()
  }
}

const balance = (response: (id: number) => object) => call((id) => JSON.stringify(response(id)), z.string())

it('is the result of the response that names the request', async () => {
  expect(await balance((id) => ({ jsonrpc: '2.0', id, result: 'ours' }))).toBe('ours')
})

// Guarantee: where a proxy mixes responses up, no account gets the balance of another.
it.each<[string, (id: number) => object]>([
  ['another id', (id) => ({ id: id + 1, result: 'theirs' })],
  ['no id', () => ({ result: 'theirs' })],
  ['an id of null', () => ({ id: null, result: 'theirs' })],
  ['the id as text', (id) => ({ id: String(id), result: 'theirs' })],
  ['a list of one response', (id) => [{ id, result: 'theirs' }]],
  [
    'a list of two responses',
    (id) => [
      { id: id + 1, result: 'theirs' },
      { id, result: 'ours' },
    ],
  ],
  ['an empty list', () => []],
])('takes no result out of %s', async (_what, response) => {
  await expect(balance(response)).rejects.toMatchObject({ kind: 'retry' })
})

// Guarantee: "there is no such transaction" is an answer, and so it must be the answer to this request.
it.each<[string, (id: number) => object]>([
  ['another id', (id) => ({ id: id + 1, error: ABSENT })],
  ['no id', () => ({ error: ABSENT })],
  ['no envelope', () => ABSENT],
])('takes no denial out of %s', async (_what, response) => {
  await expect(balance(response)).rejects.toMatchObject({
    kind: 'retry',
    message: expect.stringContaining(ABSENT.message),
  })
})

it('takes a denial that names the request, and what a gateway says without naming it', async () => {
  await expect(balance((id) => ({ id, error: ABSENT }))).rejects.toBeInstanceOf(RpcDenial)
  await expect(balance(() => ({ id: null, error: SLOW }))).rejects.toMatchObject({ kind: 'refused' })
})

// Guarantee: what a node writes costs at most what an honest one may: a list of wrong elements ends at the first of them, …
it('reads a list as far as its first wrong element', async () => {
  let looks = 0
  const element = z.custom<number>((value) => {
    looks += 1
    return typeof value === 'number'
  })
  const list = (result: unknown[]) => call((id) => JSON.stringify({ id, result }), wireList(element))
  expect(await list([1, 2, 3])).toEqual([1, 2, 3])
  await expect(list([1, ...Array.from({ length: 1_000 }, () => ({}))])).rejects.toMatchObject({ kind: 'retry' })
  expect(looks).toBe(3 + 2)
  await expect(list({ length: 1 } as never)).rejects.toMatchObject({ kind: 'retry' })
})

// … and more values than any block has are not parsed at all, however deep and however many.
it.each([
  ['lists in lists', '['.repeat(2 ** 21) + ']'.repeat(2 ** 21)],
  ['empty lists', `[${'[],'.repeat(2 ** 20)}[]]`],
  ['objects in objects', '{"":'.repeat(2 ** 21)],
])('refuses %s of 4 to 8 MB', async (_what, result) => {
  const refused = { kind: 'split', message: expect.stringContaining('1048576 values') }
  await expect(call((id) => `{"id":${id},"result":${result}}`, z.unknown())).rejects.toMatchObject(refused)
})

// Guarantee: what overflows a schema is a failure of the node, so that another one is asked.
it('takes what its schema fails on for malformed', async () => {
  const overflow = z.string().transform(() => {
    throw new RangeError('Maximum call stack size exceeded')
  })
  await expect(call((id) => JSON.stringify({ id, result: '' }), overflow)).rejects.toMatchObject({ kind: 'retry' })
})
