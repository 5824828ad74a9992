import { afterAll, beforeAll, expect, test } from 'vitest'
import { appRouter } from '#services/admin/app-router.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { openAdmin } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'

const TYPED = 'four-words-are-a-password'
const stores = useStores()
const lines: string[] = []
let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  const { db, redis, mongoUrl, redisUrl, database, prefix, runtime } = stores
  const logger = createLogger({ name: 'test', level: 'debug', destination: { write: (line) => lines.push(line) } })
  admin = await openAdmin({ db, redis, mongoUrl, redisUrl, database, prefix, runtime: { ...runtime, logger } })
})
afterAll(() => admin.close())

type Browser = ReturnType<(typeof admin)['browser']>
const MISTAKES: readonly [string, number, string, (browser: Browser) => ReturnType<Browser['query']>][] = [
  ['a name of no procedure', 404, 'Procedure not found.', (browser) => browser.query(TYPED)],
  ['a name below a router', 404, 'Procedure not found.', (browser) => browser.mutate(`auth.${TYPED}`)],
  ['a name that is no text', 400, 'The request is malformed.', (browser) => browser.query(`%zz${TYPED}`)],
  ['an input that is no JSON', 400, 'The request is malformed.', (browser) => browser.send('auth.invitation', TYPED)],
  [
    'an input in the URL',
    405,
    'Send inputs in the body of a POST.',
    (browser) => browser.get(`auth.invitation?input=${TYPED}`),
  ],
  [
    'another content type',
    415,
    'The request is malformed.',
    (browser) => browser.mutate('auth.logIn', {}, { 'content-type': TYPED }),
  ],
  ['another method', 405, 'This procedure requires another HTTP method.', (browser) => browser.get('auth.logIn')],
]

// Guarantee: what a caller takes for a name, a password for instance, is said back by no answer and no log line.
test.each(MISTAKES)('%s is answered without the text of its caller', async (_name, status, message, call) => {
  const answer = await call(admin.browser())
  expect(answer.status).toBe(status)
  expect(answer.error).toMatchObject({ message, data: { path: null } })
  expect(JSON.stringify(answer) + lines.join('')).not.toContain('words')
})

test('a refusal of ours keeps its words and its path', async () => {
  const { status, error } = await admin.browser().query('auth.me')
  expect(status).toBe(401)
  expect(error).toMatchObject({ message: 'Please log in.', data: { path: 'auth.me' } })
})

// Guarantee: nothing that a person types reaches the log of a proxy, whichever procedure it is for.
test('no procedure takes its input from a URL, alone or in a batch', async () => {
  const paths = Object.keys(appRouter._def.procedures)
  expect(paths.length).toBeGreaterThan(80)
  const browser = admin.browser()
  for (const path of paths) {
    const input = encodeURIComponent(JSON.stringify({ workspaceId: admin.workspaceId, mode: 'test', value: TYPED }))
    for (const query of [`input=${input}`, `batch=1&input=${input}`]) {
      const { status, error } = await browser.get(`${path}?${query}`)
      expect([path, status, error?.message]).toEqual([path, 405, 'Send inputs in the body of a POST.'])
    }
  }
})
