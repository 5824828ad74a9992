import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { SESSIONS, USERS } from '#shared/db/accounts/operator-models.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { openAdmin } from '#test/support/admin-http.ts'
import { useCapturedOutput } from '#test/support/captured-output.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
const printed = useCapturedOutput()
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await admin.close()
})

/** A person who is logged in with an authenticator. */
async function personWithAuthenticator() {
  const { id: userId, email } = await admin.addPerson(`r${randomUUID()}@example.com`)
  await admin.browser().logIn(email)
  const totp = { sealedSecret: 'sealed', lastStep: 1, since: 1 }
  await stores.db.collection(USERS).updateOne({ _id: userId }, { $set: { totp } })
  await stores.db.collection(MAILS).deleteMany({})
  expect(await stores.db.collection(SESSIONS).countDocuments({ userId })).toBe(1)
  return { userId, email }
}

/** Runs `operator <what> <email>` and gives its status with the mails that it left. */
async function run(what: string, email: string) {
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
    PAYMESH_ENV: 'test',
  }
  // Each time: a command removes the secrets from the environment when it has read them.
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  const status = await runCli(['operator', what, email, '--json'])
  process.exitCode = 0
  return { status, mails: await stores.db.collection(MAILS).find().toArray() }
}

// Guarantee: a log-in that is taken over from the machine's shell is mailed to its person, and ends that person's sessions.
test.each([
  ['reset-password', 'operator.password_reset', 'Your password was reset from the command line of the installation.'],
  ['reset-totp', 'operator.authenticator_reset', 'Your authenticator was removed from the command line'],
] as const)('%s mails the person concerned and nobody else', async (what, action, sentence) => {
  const { userId, email } = await personWithAuthenticator()
  const { status, mails } = await run(what, email)
  expect(status).toBe(0)
  expect(mails).toMatchObject([{ to: email, template: 'account_changed', data: { email } }])
  const [mail] = mails
  if (mail === undefined) throw new Error('no mail')
  const { text } = renderMail(mail)
  expect(text).toContain(sentence)
  expect(text).toContain('All your log-ins have ended.')
  const { password } = JSON.parse(printed()) as { password?: string }
  expect(typeof password).toBe(what === 'reset-password' ? 'string' : 'undefined')
  if (password !== undefined) expect(JSON.stringify(mails)).not.toContain(password)
  expect(await stores.db.collection(SESSIONS).countDocuments({ userId })).toBe(0)
  expect(await stores.db.collection(AUDIT_LOG).countDocuments({ action, subject: userId })).toBe(1)
})

test('a reset that changes nothing mails nobody', async () => {
  const { email } = await admin.addPerson(`r${randomUUID()}@example.com`)
  await stores.db.collection(MAILS).deleteMany({})
  expect(await run('reset-totp', email)).toEqual({ status: 0, mails: [] })
  expect(await run('reset-password', 'nobody@example.com')).toEqual({ status: 1, mails: [] })
  expect(printed()).toContain('NOT_FOUND')
})

// Guarantee: no reset without its mail: what cannot be stored as a whole is not stored.
test('a reset whose mail cannot be stored changes nothing', async () => {
  const { userId, email } = await personWithAuthenticator()
  const before = await stores.db.collection(USERS).findOne({ _id: userId })
  await stores.db.connection.db?.command({ collMod: MAILS.name, validator: { template: 'none' } })
  try {
    expect(await run('reset-password', email)).toMatchObject({ status: 1, mails: [] })
  } finally {
    await stores.db.connection.db?.command({ collMod: MAILS.name, validator: {} })
  }
  expect(await stores.db.collection(USERS).findOne({ _id: userId })).toEqual(before)
  expect(await stores.db.collection(SESSIONS).countDocuments({ userId })).toBe(1)
})
