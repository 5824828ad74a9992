import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { openAdmin } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'

const TYPED = 'four-words-are-a-password'
const stores = useStores()
const lines: string[] = []
let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  const { db, redis, mongoUrl, redisUrl, database, prefix, ambient } = stores
  const logger = createLogger({ name: 'test', level: 'debug', destination: { write: (line) => lines.push(line) } })
  admin = await openAdmin({ db, redis, mongoUrl, redisUrl, database, prefix, ambient: { ...ambient, logger } })
})
afterAll(() => admin.close())

type Browser = ReturnType<(typeof admin)['browser']>
const MISTAKES: readonly [string, number, string, (browser: Browser) => ReturnType<Browser['query']>][] = [
  ['a name of no procedure', 404, 'There is no such procedure.', (browser) => browser.query(TYPED)],
  ['a name below a router', 404, 'There is no such procedure.', (browser) => browser.mutate(`auth.${TYPED}`)],
  ['a name that is no text', 400, 'This request cannot be read.', (browser) => browser.query(`%zz${TYPED}`)],
  [
    'an input that is no JSON',
    400,
    'This request cannot be read.',
    (browser) => browser.send('auth.invitation', TYPED),
  ],
  [
    'an input in the URL',
    405,
    'Inputs travel in the body of a POST.',
    (browser) => browser.get(`auth.invitation?input=${TYPED}`),
  ],
  [
    'another content type',
    415,
    'This request cannot be read.',
    (browser) => browser.mutate('auth.logIn', {}, { 'content-type': TYPED }),
  ],
  ['another method', 405, 'This procedure is called by another method.', (browser) => browser.get('auth.logIn')],
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
