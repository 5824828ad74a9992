import { describe, expect, it } from 'vitest'
import { createEndpointRepository } from '#shared/db/deliveries/endpoint-repository.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import { useStores } from '#test/support/stores.ts'
import { createEventRepository } from './event-repository.ts'

const stores = useStores()
const uuid = () => stores.runtime.random.uuid()

describe('events', () => {
  const event = (invoiceId: string | null, seq: number, text: string): EventRecord => ({
    id: `evt_${uuid()}`,
    workspaceId: 'ws-1',
    mode: 'test',
    invoiceId,
    seq,
    type: 'invoice.created',
    body: new TextEncoder().encode(text),
    createdAt: 1_000,
  })

  // Guarantee: the bytes of an event never change once they were stored.
  it('keep their first bytes', async () => {
    const repository = createEventRepository(stores.db)
    const invoiceId = uuid()
    const [first, second] = [event(invoiceId, 1, '{"née":"€"}'), event(invoiceId, 2, 'b')]
    await repository.insertMany([first])
    await repository.insertMany([{ ...first, body: new TextEncoder().encode('other') }, second])
    const found = await repository.findByIds([first.id, 'unknown'])
    expect(found.size).toBe(1)
    expect(new TextDecoder().decode(found.get(first.id)?.body)).toBe('{"née":"€"}')
    expect((await repository.listByInvoice(invoiceId)).map((one) => one.seq)).toEqual([1, 2])
  })

  it('may belong to no invoice', async () => {
    const repository = createEventRepository(stores.db)
    const [one, other] = [event(null, 1, 'a'), event(null, 1, 'b')]
    await repository.insertMany([one, other])
    expect((await repository.findByIds([one.id, other.id])).size).toBe(2)
  })
})

describe('endpoints', () => {
  const endpoint = (workspaceId: string, overrides: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
    id: uuid(),
    workspaceId,
    url: 'https://example.com/hook',
    events: ['*'],
    mode: 'test',
    description: null,
    status: 'enabled',
    sealedSecrets: ['v1.sealed'],
    formerSecrets: [],
    inFlightMax: null,
    createdAt: 1_000,
    updatedAt: 1_000,
    opId: null,
    ...overrides,
  })

  it('are listed by what they receive, newest first', async () => {
    const repository = createEndpointRepository(stores.db)
    const workspaceId = uuid()
    const test = endpoint(workspaceId)
    const live = endpoint(workspaceId, { mode: 'live', status: 'disabled' })
    const both = endpoint(workspaceId, { mode: 'both' })
    for (const one of [test, live, both]) expect(await repository.insert(one)).toBe('inserted')
    expect(await repository.insert(test)).toBe('exists')
    expect(await repository.findById(test.id)).toEqual(test)
    expect(await repository.list(workspaceId, 'test')).toEqual([both, test])
    expect(await repository.list(workspaceId, 'live')).toEqual([both, live])
    expect(await repository.list(workspaceId, null)).toHaveLength(3)
    expect((await repository.listOf([workspaceId])).map((one) => one.id).toSorted()).toEqual(
      [test.id, live.id, both.id].toSorted(),
    )
    expect(await repository.count(workspaceId)).toBe(3)
    expect(await repository.restrictToLive(both.id)).toBe(true)
    expect(await repository.restrictToLive(both.id)).toBe(false)
    expect((await repository.findById(both.id))?.mode).toBe('live')
    expect(await repository.remove(test.id)).toBe(true)
    expect(await repository.remove(test.id)).toBe(false)
  })
})

describe('exceptions and mails', () => {
  it('are opened once, closed, and opened again', async () => {
    const repository = createExceptionRepository(stores.db)
    const workspaceId = uuid()
    const record: ExceptionRecord = {
      id: `late:${uuid()}`,
      kind: 'late',
      workspaceId,
      mode: 'test',
      invoiceId: 'invoice-1',
      paymentKey: null,
      detail: 'first',
      openedAt: 1_000,
      closedAt: null,
    }
    await Promise.all([repository.open([record]), repository.open([{ ...record, detail: 'second', openedAt: 2_000 }])])
    const [open, ...others] = await repository.listOpen(workspaceId)
    expect(others).toEqual([])
    await repository.close([record.id], 3_000)
    expect(await repository.listOpen(workspaceId)).toEqual([])
    await repository.open([record])
    expect(await repository.listOpen(workspaceId)).toEqual([open])
    expect((await repository.listOpen(null)).map((one) => one.id)).toContain(record.id)
  })

  it('queue a mail once', async () => {
    const repository = createMailRepository(stores.db)
    const mail = {
      id: uuid(),
      workspaceId: 'ws-1',
      template: 'payment_reorged' as const,
      to: 'owner@example.com',
      data: { invoice: '1' },
      createdAt: 1_000,
    }
    await repository.insertMany([mail])
    await repository.insertMany([{ ...mail, to: 'other@example.com' }])
    expect(await stores.db.collection(MAILS).findOne({ _id: mail.id })).toMatchObject({ to: mail.to })
  })
})

describe('rate snapshots', () => {
  it('are found by time, newest first', async () => {
    const repository = createRateRepository(stores.db)
    const base = Date.now()
    expect(await repository.latest()).toBeNull()
    const snapshot = (at: number) => ({
      at,
      guards: {},
      expected: {},
      sources: {},
      clockOffsetMs: null,
      usdPerSymbol: { BTC: { price: '97123.45', sources: ['kraken'], oldestAt: at } },
      fiatPerUsd: { 'ARS:crypto': { price: '1480.2', sources: ['a'], oldestAt: at } },
    })
    for (const at of [base - 300_000, base, base - 150_000]) await repository.insert(snapshot(at))
    await repository.insert({
      ...snapshot(base),
      guards: {},
      expected: {},
      sources: {},
      clockOffsetMs: null,
      usdPerSymbol: {},
    })
    expect(await repository.latest()).toEqual(snapshot(base))
    expect(await repository.latestBefore(base - 1, 200_000)).toEqual(snapshot(base - 150_000))
    expect(await repository.latestBefore(base - 160_000, 120_000)).toBeNull()
  })
})
