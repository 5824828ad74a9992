import { expect, test } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { DEFAULT_POLICY } from '#shared/usecases/workspaces/create-workspace.ts'
import { auditRow } from '#test/support/audit-parts.ts'
import { useDispatchStage } from '#test/support/dispatch-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { at, secretBox, workspaceId, ports, dispatcher, given, turn, delivery } = useDispatchStage(stores)

test('rows of an endpoint deleted while they are claimed are purged, not sent', async () => {
  const { endpoint, rows } = await given(3)
  const { deliveries, endpoints } = ports()
  const sender = dispatcher({
    deliveries: {
      ...deliveries,
      findDue: async (wants, from) => {
        const due = await deliveries.findDue(wants, from)
        await endpoints.remove(endpoint.id)
        return due
      },
    },
  })
  await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(0)
  for (const { delivery: row } of rows) expect(await deliveries.findById(row.id)).toBeNull()
})

test('an endpoint turned live keeps no test deliveries', async () => {
  const { endpoint, only } = await given(1, { mode: 'live' })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(0)
  expect(await ports().deliveries.findById(only)).toBeNull()
})

test('localhost is called for test-only endpoints alone, and only when the server allows it', async () => {
  const both = await given(1, { mode: 'both' })
  const closed = await given(1)
  const open = dispatcher()
  await open.drain('normal', both.endpoint.id)
  const strict = dispatcher({ allowLocalhost: false })
  await strict.drain('normal', closed.endpoint.id)
  await Promise.all([open.idle(), strict.idle()])
  expect(await delivery(both.only)).toMatchObject({ status: 'pending', lastError: 'bad_url' })
  expect(await delivery(closed.only)).toMatchObject({ status: 'pending', lastError: 'bad_url' })
  expect(at.receiver.connections()).toBe(0)
})

test('a secret that does not open is never replaced by an unsigned request', async () => {
  const { endpoint, only } = await given(1, { sealedSecrets: [secretBox.seal('whsec_AA==', 'another context')] })
  const sender = dispatcher()
  await turn(sender, endpoint.id)
  expect(at.receiver.requests).toHaveLength(0)
  expect(await delivery(only)).toMatchObject({ status: 'pending', attempt: 0 })
})

test('three failed deliveries in a row mail the owner once; a success begins a new count', async () => {
  const { workspaces } = ports()
  await workspaces.insert(
    {
      id: workspaceId,
      name: 'Shop',
      ownerEmail: 'owner@example.com',
      status: 'active',
      limits: { invoicesPerMonth: null, paymentLinks: null, webhookEndpoints: null },
      policy: DEFAULT_POLICY,
      epoch: 1,
      createdAt: 0,
    },
    auditRow(stores.runtime.random.uuid()),
  )
  const { endpoint, rows } = await given(5)
  const rowsOf = stores.db.collection(WEBHOOK_DELIVERIES)
  const mails = () => stores.db.collection(MAILS).find({}).toArray()
  const sender = dispatcher()
  /** Brings one row to its last attempt, alone. */
  const finish = async (index: number, status: number) => {
    at.receiver.answer({ kind: 'status', status })
    const future = new Date(Date.now() + 3_600_000)
    await rowsOf.updateMany({ endpointId: endpoint.id, status: 'pending' }, { $set: { dueAt: future } })
    const id = rows[index]?.delivery.id ?? ''
    await rowsOf.updateOne({ _id: id }, { $set: { attempt: 8, dueAt: new Date(0) } })
    await turn(sender, endpoint.id)
  }
  await finish(0, 500)
  await finish(1, 500)
  expect(await mails()).toHaveLength(0)
  await finish(2, 500)
  await finish(3, 500)
  expect(await mails()).toMatchObject([
    {
      _id: `endpoint-failing:${endpoint.id}:${rows[0]?.delivery.id}`,
      template: 'endpoint_failing',
      to: 'owner@example.com',
      workspaceId,
    },
  ])
  await finish(4, 200)
  expect(await mails()).toHaveLength(1)
  expect(at.wakeUps.filter((notify) => notify.queue === 'mail')).not.toHaveLength(0)
})
