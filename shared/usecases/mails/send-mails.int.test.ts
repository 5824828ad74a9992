import { expect, test } from 'vitest'
import { MAILS, type MailRecord } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import type { MailFault, OutgoingMail } from '#shared/ports/mail-transport.ts'
import { useStores } from '#test/support/stores.ts'
import { createMailSender, MAIL_RETRY_DELAYS_MS } from './send-mails.ts'

const stores = useStores()
const HOUR_MS = 3_600_000

/** A separate waiting mail. */
async function waitingMail(change: Partial<MailRecord> = {}): Promise<string> {
  const { clock, random } = stores.runtime
  const id = `addresses-low:${random.uuid()}`
  const data = { family: 'evm', mode: 'live', free: '1', total: '9' }
  const mail: MailRecord = {
    ...{ id, workspaceId: 'ws', template: 'addresses_low', to: 'owner@example.com', data },
    // Due by the clock of the store, of which ours is an estimate.
    createdAt: clock.now() - 5_000,
    ...change,
  }
  await createMailRepository(stores.db).insertMany([mail])
  return id
}

type Answer = MailFault | 'sent'

/** A sender whose mail server gives these answers in turn; the last one for ever. */
function senderWith(...answers: readonly Answer[]) {
  const sent: OutgoingMail[] = []
  const transport = {
    send: (mail: OutgoingMail) => {
      const answer = answers[Math.min(sent.length, answers.length - 1)] ?? 'sent'
      sent.push(mail)
      return Promise.resolve(
        answer === 'sent'
          ? ({ outcome: 'sent', reply: '250 taken' } as const)
          : ({ outcome: 'failed', fault: answer, reason: `because ${answer}` } as const),
      )
    },
  }
  let now: number | null = null
  const clock = { now: () => now ?? stores.runtime.clock.now() }
  const sender = createMailSender({
    ...stores.runtime,
    clock,
    mails: createMailQueue(stores.db),
    transport,
    from: { name: 'Paymesh', address: 'paymesh@pay.example.com' },
    notifier: { notify: () => undefined },
    after: () => () => undefined,
  })
  return {
    sender,
    sent,
    skipMs: (ms: number) => {
      now = clock.now() + ms
    },
  }
}

const stored = (id: string) => createMailQueue(stores.db).findById(id)
/** Time passes: what was put off, or held by a dead process, is due. */
const makeDue = (id: string) =>
  stores.db.collection(MAILS).updateOne({ _id: id }, { $set: { dueAt: new Date(stores.runtime.clock.now() - 5_000) } })

test('a mail is sent once, however often it is asked for', async () => {
  const id = await waitingMail()
  const { sender, sent } = senderWith('sent')
  await Promise.all([sender.send(id), sender.send(id), senderWith('sent').sender.send(id)])
  await sender.send(id)
  expect(sent.length).toBeLessThanOrEqual(1)
  expect(await stored(id)).toMatchObject({ status: 'sent', attempt: 1, claims: 1, lastReply: '250 taken' })
})

test('a deferred mail is tried again on its schedule, then has failed with the last reason', async () => {
  const id = await waitingMail()
  const { sender, sent } = senderWith('deferred')
  for (const [index, delayMs] of MAIL_RETRY_DELAYS_MS.entries()) {
    const before = stores.runtime.clock.now()
    await sender.send(id)
    const mail = await stored(id)
    expect(mail).toMatchObject({ status: 'pending', attempt: index + 1, leaseToken: null })
    expect(mail?.dueAt).toBeGreaterThanOrEqual(before + delayMs)
    // Not due: nothing is sent early.
    await sender.send(id)
    expect(sent).toHaveLength(index + 1)
    await makeDue(id)
  }
  await sender.send(id)
  expect(await stored(id)).toMatchObject({ status: 'failed', attempt: 10, lastReply: 'because deferred' })
  expect(MAIL_RETRY_DELAYS_MS.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(70 * HOUR_MS)
})

test('every try carries the same identity, so that a receiver can tell a duplicate', async () => {
  const id = await waitingMail()
  const { sender, sent } = senderWith('unclear', 'sent')
  await sender.send(id)
  await makeDue(id)
  await sender.send(id)
  expect(sent[0]).toEqual(sent[1])
  expect(sent[0]?.messageId).toMatch(/^<[0-9a-f]{32}@pay\.example\.com>$/)
  const other = await waitingMail()
  await sender.send(other)
  expect(sent[2]?.messageId).not.toBe(sent[0]?.messageId)
})

test('a recipient refused for good ends the mail with the reason', async () => {
  const id = await waitingMail()
  await senderWith('refused').sender.send(id)
  expect(await stored(id)).toMatchObject({ status: 'failed', lastReply: 'because refused' })
})

// Guarantee: an address that could carry a header or a second recipient never reaches a mail server.
test('an address that is none ends the mail unsent', async () => {
  const id = await waitingMail({ to: 'owner@example.com\r\nBcc: all@example.com' })
  const { sender, sent } = senderWith('sent')
  await sender.send(id)
  expect(sent).toEqual([])
  expect(await stored(id)).toMatchObject({ status: 'failed', lastReply: 'not a plain email address' })
})

test('a server that is away consumes nothing and is left alone for a moment', async () => {
  const [id, other] = [await waitingMail(), await waitingMail()]
  const { sender, sent, skipMs } = senderWith('server', 'sent')
  await sender.send(id)
  expect(await stored(id)).toMatchObject({ status: 'pending', attempt: 0, lastReply: 'because server' })
  await sender.send(other)
  expect(sent).toHaveLength(1)
  expect(await sender.overdue()).toEqual([])
  skipMs(6_000)
  await sender.send(other)
  expect(await stored(other)).toMatchObject({ status: 'sent' })
})

// Guarantee: a mailer that dies between claim and outcome loses nothing.
test('a mail claimed by a process that died is sent again when its lease ends', async () => {
  const id = await waitingMail()
  expect(await createMailQueue(stores.db).claim(id, 'dead', 60_000)).toMatchObject({ claims: 1 })
  const { sender, sent } = senderWith('sent')
  await sender.send(id)
  expect(sent).toEqual([])
  await makeDue(id)
  expect(await sender.overdue()).toContain(id)
  await sender.send(id)
  expect(await stored(id)).toMatchObject({ status: 'sent', claims: 2 })
})

test('an outcome of a lost lease writes nothing', async () => {
  const id = await waitingMail()
  const mails = createMailQueue(stores.db)
  await mails.claim(id, 'slow', 60_000)
  await makeDue(id)
  await senderWith('deferred').sender.send(id)
  const before = await stored(id)
  const late = {
    mailId: id,
    leaseToken: 'slow',
    result: 'failed',
    counts: true,
    dueAt: null,
    at: 0,
    reply: '',
  } as const
  expect(await mails.finish(late)).toBe(false)
  expect(await stored(id)).toEqual(before)
})

test('a mail cut off by a stop is given back at once', async () => {
  const id = await waitingMail()
  await senderWith('stopped').sender.send(id)
  expect(await stored(id)).toMatchObject({ status: 'pending', attempt: 0, leaseToken: null })
  await senderWith('sent').sender.send(id)
  expect(await stored(id)).toMatchObject({ status: 'sent' })
})

test('a mail that cannot be made waits for a release that can', async () => {
  const id = await waitingMail({ data: {} })
  const { sender, sent } = senderWith('sent')
  await sender.send(id)
  expect(sent).toEqual([])
  expect(await stored(id)).toMatchObject({ status: 'pending', attempt: 1 })
})
