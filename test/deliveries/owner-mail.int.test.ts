import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Stop } from '#services/context.ts'
import { start as startMailer } from '#services/mailer/main.ts'
import { start as startWebhooks } from '#services/webhooks/main.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { serviceContext } from '#test/support/service-context.ts'
import { type SmtpSink, startSmtpSink } from '#test/support/smtp-sink.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

const stores = useStores()
const stage = deliveryStage(stores)
let receiver: WebhookReceiver
let sink: SmtpSink
let stops: Stop[] = []
const soon = { timeout: 20_000, interval: 50 }

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  sink = await startSmtpSink()
  const mailEnv = { PAYMESH_ENV: 'test', PAYMESH_SMTP_URL: sink.url, PAYMESH_MAIL_FROM: 'Paymesh <pay@example.com>' }
  stops = [await startMailer(serviceContext(stores, mailEnv)), await startWebhooks(stage.context())]
})
afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()))
  await Promise.all([receiver.close(), sink.close()])
})

async function shop() {
  const workspaces = createWorkspaceRepository(stores.db)
  const ownerEmail = `owner-${stores.runtime.random.uuid()}@example.com`
  const workspace = await createWorkspace(
    { ...stores.runtime, workspaces },
    { name: 'Shop', ownerEmail, actor: 'test' },
  )
  const endpoint = await stage.endpoint({ workspaceId: workspace.id, url: receiver.url })
  const mails = () => sink.mails.filter(({ to }) => to.includes(ownerEmail))
  /** Events whose next failure is the ninth and last. */
  const send = async (count: number) => {
    const events = await stage.events(workspace.id, count)
    const rows = []
    for (const event of events) rows.push(await stage.delivery(endpoint, event, { attempt: 8 }))
    return rows.map(({ id }) => id)
  }
  return { endpoint, mails, send }
}

const finished = (ids: readonly string[], status: string) =>
  vi.waitFor(async () => {
    const rows = await Promise.all(ids.map((id) => stage.ports().deliveries.findById(id)))
    expect(rows.every((row) => row?.status === status)).toBe(true)
  }, soon)

// Guarantee: the owner hears of a failing endpoint after three failed events in a row, once for each streak.
test('three failed events in a row are one mail, more are none, and a success begins again', async () => {
  const { endpoint, mails, send } = await shop()
  receiver.answer({ kind: 'status', status: 500 })
  await finished(await send(2), 'failed')
  expect(mails()).toEqual([])
  await finished(await send(1), 'failed')
  await vi.waitFor(() => expect(mails()).toHaveLength(1), soon)
  expect(mails()[0]?.source).toContain(endpoint.id)
  expect(mails()[0]?.source).not.toContain(endpoint.secret)

  await finished(await send(4), 'failed')
  receiver.answer({ kind: 'status', status: 200 })
  await finished(await send(1), 'succeeded')
  expect(mails()).toHaveLength(1)

  receiver.answer({ kind: 'status', status: 500 })
  await finished(await send(3), 'failed')
  await vi.waitFor(() => expect(mails()).toHaveLength(2), soon)
})
