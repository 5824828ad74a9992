import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleOf } from '#test/support/depth.ts'
import { type SinkBehaviour, type SmtpSink, startSmtpSink } from '#test/support/smtp-sink.ts'
import { createSmtpTransport, type SmtpTransport } from './smtp-transport.ts'

let sink: SmtpSink
beforeEach(async () => {
  sink = await startSmtpSink()
})
afterEach(() => sink.close())

const MAIL = {
  messageId: '<abc@pay.example.com>',
  to: 'owner@example.com',
  subject: 'A webhook endpoint fails — señal',
  text: 'plain\n.\nlines',
  html: '<p>rich</p>',
  date: Date.UTC(2026, 9, 1),
}
const transport = (url = sink.url, deadlineMs = 5_000): SmtpTransport =>
  createSmtpTransport({ url, from: { name: 'Paymesh', address: 'paymesh@pay.example.com' }, deadlineMs })

test('a mail arrives with its identity, its sender and both bodies', async () => {
  expect(await transport().send(MAIL)).toMatchObject({ outcome: 'sent', reply: expect.stringMatching(/^250/) })
  const [mail] = sink.mails
  expect(mail).toMatchObject({ from: 'paymesh@pay.example.com', to: ['owner@example.com'] })
  expect(mail?.source).toContain('Message-ID: <abc@pay.example.com>')
  expect(mail?.source).toContain('From: Paymesh <paymesh@pay.example.com>')
  expect(mail?.source).toContain('Date: Thu, 01 Oct 2026 00:00:00 +0000')
  expect(mail?.source).toContain('Auto-Submitted: auto-generated')
  expect(mail?.source).toMatch(/text\/plain[\s\S]*plain\r\n\.\r\nlines[\s\S]*text\/html[\s\S]*<p>rich<\/p>/)
})

// Guarantee: nothing a merchant entered can add a header or a recipient.
test('line breaks in a subject or an address stay text', async () => {
  await transport().send({ ...MAIL, subject: 'Hi\r\nBcc: everyone@example.com\r\n\r\nbody' })
  await transport().send({ ...MAIL, to: 'owner@example.com\r\nRCPT TO:<everyone@example.com>' })
  await transport().send({ ...MAIL, to: 'owner@example.com, everyone@example.com' })
  const everyone = sink.mails.filter(
    ({ to, source }) => to.length !== 1 || /^bcc:/im.test(source.split('\r\n\r\n')[0] ?? ''),
  )
  expect(everyone).toEqual([])
})

describe('what goes wrong is checked by stage and code', () => {
  const cases: readonly (readonly [string, SinkBehaviour, string])[] = [
    ['a recipient refused for good', { kind: 'refuse', stage: 'recipient', code: 550 }, 'refused'],
    ['a message refused for good', { kind: 'refuse', stage: 'message', code: 554 }, 'refused'],
    ['a recipient deferred', { kind: 'refuse', stage: 'recipient', code: 450 }, 'deferred'],
    ['a message deferred', { kind: 'refuse', stage: 'message', code: 451 }, 'deferred'],
    ['a sender refused: our fault, not the mail’s', { kind: 'refuse', stage: 'sender', code: 553 }, 'server'],
    ['a server that refuses everybody', { kind: 'refuse', stage: 'connect', code: 554 }, 'server'],
    ['a connection that drops after the message', { kind: 'reset' }, 'unclear'],
    ['a server that hangs at its greeting', { kind: 'hang', stage: 'connect' }, 'server'],
    ['a server that hangs after the message', { kind: 'hang', stage: 'message' }, 'unclear'],
  ]
  test.each(sampleOf(cases, 1))('%s', async (_what, behaviour, fault) => {
    sink.behave(behaviour)
    const result = await transport(sink.url, behaviour.kind === 'hang' ? 3_000 : 20_000).send(MAIL)
    expect(result).toMatchObject({ outcome: 'failed', fault })
  })

  test('no server at all', async () => {
    const { url } = sink
    await sink.close()
    expect(await transport(url).send(MAIL)).toMatchObject({ outcome: 'failed', fault: 'server' })
    sink = await startSmtpSink()
  })
})

test('a login is used, and a wrong one is the server’s fault', async () => {
  const closed = await startSmtpSink({ login: true })
  const url = (password: string) => `smtp://user:${password}@127.0.0.1:${closed.port}`
  expect(await transport(url('secret')).send(MAIL)).toMatchObject({ outcome: 'sent' })
  const result = await transport(url('hush-hush')).send(MAIL)
  expect(result).toMatchObject({ outcome: 'failed', fault: 'server' })
  expect(JSON.stringify(result)).not.toContain('hush-hush')
  await closed.close()
})

// Guarantee: credentials never cross a network in the clear.
test('credentials are kept back from a server without TLS', async () => {
  const closed = await startSmtpSink({ login: true, host: '127.0.0.2' })
  const remote = `smtp://user:secret@127.0.0.2:${closed.port}`
  expect(await transport(remote).send(MAIL)).toMatchObject({ outcome: 'failed', fault: 'server' })
  expect(closed.logins()).toBe(0)
  const local = `smtp://user:secret@127.0.0.2:${closed.port}?requireTLS=false`
  expect(await transport(local).send(MAIL)).toMatchObject({ outcome: 'sent' })
  await closed.close()
})

test('closing cuts a conversation off', async () => {
  sink.behave({ kind: 'hang', stage: 'message' })
  const cut = transport()
  const sending = cut.send(MAIL)
  await expect.poll(() => sink.mails.length).toBe(1)
  cut.close()
  expect(await sending).toMatchObject({ outcome: 'failed', fault: 'stopped' })
})
