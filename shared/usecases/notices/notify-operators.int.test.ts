import { beforeEach, expect, it } from 'vitest'
import { createExportRecords } from '#shared/db/audit/export-records.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import type { StoreRedundancy } from '#shared/ports/store-redundancy.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { stuckRow, stuckRowId } from '#shared/usecases/networks/report-stuck-networks.ts'
import { useStores } from '#test/support/stores.ts'
import { notifyOperators } from './notify-operators.ts'

const stores = useStores()
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const BITCOIN = { mode: 'live', network: 'bitcoin' } as const
const TRON = { mode: 'live', network: 'tron' } as const

beforeEach(async () => {
  const { db } = stores
  for (const { name } of await db.connection.listCollections()) await db.connection.collection(name).deleteMany({})
  const about = { at: 0, actor: 'cli:test', workspaceId: null, mode: null, detail: {} }
  const person = { name: 'x', passwordHash: 'x', totp: null, pendingTotp: null, recoveryHashes: [], devices: [] }
  const { users } = createRepositories(db, stores.runtime)
  for (const id of ['olivia', 'otto', 'mallory']) {
    const isOperator = id !== 'mallory'
    const user = { ...person, id, email: `${id}@example.com`, isOperator, securityEpoch: 0, createdAt: 0 }
    await users.insert(user, { audit: { id, action: 'operator.created', subject: id, ...about }, mails: [] })
  }
})

/** An installation with a recent back-up, by a clock that a test moves. */
async function opened() {
  let now = stores.runtime.clock.now()
  const repositories = createRepositories(stores.db, stores.runtime)
  const market = { isOpen: true }
  const store: { state: StoreRedundancy } = { state: { members: null, oplog: null, disk: null, isDenied: false } }
  const deps = {
    ...stores.runtime,
    ...repositories,
    clock: { now: () => now },
    notifier: { notify: () => undefined },
    redundancy: { read: () => Promise.resolve(store.state) },
  }
  const backUp = async (backupId: string) => {
    const about = { at: now, actor: 'cli:test', subject: backupId, workspaceId: null, mode: null, detail: {} }
    const started = { id: `backup.started:${backupId}`, action: 'backup.started' as const, ...about }
    await createExportRecords(stores.db).record(started)
    const audit = { id: `verified:${backupId}`, action: 'backup.verified' as const, ...about }
    await createVerifiedBackups(stores.db).record({ backupId, takenAt: now, verifiedAt: now, chain: null }, audit)
  }
  await backUp('first')
  const publish = () =>
    deps.rateSnapshots.insert({
      ...{ at: now, guards: {}, expected: {}, sources: {}, clockOffsetMs: null, usdPerSymbol: {}, fiatPerUsd: {} },
    })
  return {
    deps,
    market,
    store,
    backUp,
    /** A look each minute for so long. */
    pass: async (ms: number) => {
      for (const until = now + ms; now < until; now += MINUTE) {
        if (market.isOpen) await publish()
        await notifyOperators(deps)
      }
    },
    skip: (ms: number) => {
      now += ms
    },
    /** Subjects and texts to Olivia, oldest first. */
    mails: async (to = 'olivia@example.com') => {
      const newest = await createMailQueue(stores.db).listNewest(50)
      const own = newest.filter((mail) => mail.to === to).sort((a, b) => a.createdAt - b.createdAt)
      return own.map(({ template, data }) => renderMail({ template, data }))
    },
  }
}

// Guarantee: operators of an installation without Prometheus get one mail for each problem, and one when it is over.
it('mails every operator once of stuck networks, and once when they advance again', async () => {
  const { deps, pass, mails } = await opened()
  await pass(5 * MINUTE)
  expect(await mails()).toEqual([])
  for (const network of [BITCOIN, TRON])
    await deps.exceptions.report(stuckRow(network, `${network.network} is stuck at block 7.`, deps.clock.now()))
  await pass(30 * MINUTE)
  const [problem, ...more] = await mails()
  expect(more).toEqual([])
  expect(problem?.subject).toBe('Paymesh needs you: 2 problems')
  for (const part of ['bitcoin (live) does not advance. bitcoin is stuck at block 7.', 'tron is stuck at block 7.'])
    expect(problem?.text).toContain(part)
  expect(await mails('otto@example.com')).toHaveLength(1)
  expect(await mails('mallory@example.com')).toEqual([])
  await deps.exceptions.close([stuckRowId(BITCOIN)], deps.clock.now())
  await pass(20 * MINUTE)
  const [, recovered, ...others] = await mails()
  expect(others).toEqual([])
  expect(recovered?.subject).toBe('Paymesh recovered: bitcoin (live) does not advance')
})

it('mails once of a network that comes and goes', async () => {
  const { deps, pass, mails } = await opened()
  for (let turn = 0; turn < 6; turn += 1) {
    await deps.exceptions.report(stuckRow(BITCOIN, 'stuck', deps.clock.now()))
    await pass(5 * MINUTE)
    await deps.exceptions.close([stuckRowId(BITCOIN)], deps.clock.now())
    await pass(5 * MINUTE)
  }
  expect(await mails()).toHaveLength(1)
})

it('mails of a back-up that failed, of one that is too old, and of a disk that is nearly full', async () => {
  const { deps, store, pass, skip, backUp, mails } = await opened()
  const attempt = { name: 'a.backup', startedAt: deps.clock.now() + 1, failure: 'the target is full' }
  await createVerifiedBackups(stores.db).recordAttempt(attempt)
  await pass(2 * MINUTE)
  expect((await mails())[0]?.text).toContain('failed: the target is full.')
  skip(MINUTE)
  await backUp('second')
  await pass(20 * MINUTE)
  skip(37 * HOUR)
  await pass(2 * MINUTE)
  store.state = { ...store.state, disk: { usedBytes: 96, totalBytes: 100 } }
  await pass(10 * MINUTE)
  expect((await mails()).map(({ subject }) => subject)).toEqual([
    'Paymesh needs you: Back-ups fail',
    'Paymesh recovered: Back-ups fail',
    'Paymesh needs you: Back-ups fail',
    'Paymesh needs you: The database needs attention',
  ])
})

it('mails of changes between back-ups that are not copied any more, and not of a short break', async () => {
  const { deps, pass, mails } = await opened()
  const copied = () =>
    createVerifiedBackups(stores.db).recordChanges({ chain: 'c', takenAt: deps.clock.now(), copied: null })
  await copied()
  await pass(8 * MINUTE)
  await copied()
  await pass(3 * MINUTE)
  expect(await mails()).toEqual([])
  await pass(10 * MINUTE)
  expect((await mails()).map(({ text }) => text)).toEqual([
    expect.stringContaining('The newest changes that were copied are of'),
  ])
})

it('mails of back-ups that are not copied elsewhere any more, and that they are again', async () => {
  const { deps, pass, mails } = await opened()
  const record = (copiedAt: number) => {
    const takenAt = deps.clock.now()
    const copied = { archives: takenAt, changes: copiedAt }
    return createVerifiedBackups(stores.db).recordChanges({ chain: 'c', takenAt, copied })
  }
  const passTaking = async (minutes: number, copiedAt: () => number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await record(copiedAt())
      await pass(MINUTE)
    }
  }
  const last = deps.clock.now()
  await passTaking(8, () => last)
  expect(await mails()).toEqual([])
  await passTaking(5, () => last)
  expect((await mails()).map(({ text }) => text)).toEqual([
    expect.stringContaining(`changes last at ${new Date(last).toISOString()}; read the log`),
  ])
  await passTaking(20, deps.clock.now)
  expect((await mails()).map(({ subject }) => subject)).toEqual([
    'Paymesh needs you: Back-ups are not copied elsewhere',
    'Paymesh recovered: Back-ups are not copied elsewhere',
  ])
})

// Guarantee: a store that is too slow to say its state keeps nobody from reading of another problem, and is not called recovered.
it('mails of a stuck network beside a store that does not say its state', async () => {
  const { deps, store, pass, mails } = await opened()
  store.state = { ...store.state, disk: { usedBytes: 96, totalBytes: 100 } }
  await pass(10 * MINUTE)
  const read = deps.redundancy.read
  deps.redundancy.read = () => Promise.reject(new Error('timed out'))
  await deps.exceptions.report(stuckRow(BITCOIN, 'stuck', deps.clock.now()))
  await pass(30 * MINUTE)
  deps.redundancy.read = read
  await pass(30 * MINUTE)
  expect((await mails()).map(({ subject }) => subject)).toEqual([
    'Paymesh needs you: The database needs attention',
    'Paymesh needs you: bitcoin (live) does not advance',
  ])
})

// Guarantee: a shop that can sell nothing because every price source is gone is told so, and of which, without Prometheus.
it('mails of price sources that are gone, and that there are prices again', async () => {
  const { deps, market, pass, mails } = await opened()
  await pass(5 * MINUTE)
  market.isOpen = false
  const since = deps.clock.now()
  await deps.rateSnapshots.recordFailing([{ source: 'kraken', reason: 'timeout', since }])
  await pass(4 * MINUTE)
  expect(await mails()).toEqual([])
  await pass(10 * MINUTE)
  market.isOpen = true
  await pass(20 * MINUTE)
  const [gone, back, ...more] = await mails()
  expect(more).toEqual([])
  expect(gone?.subject).toBe('Paymesh needs you: There are no prices')
  const about = `sources that fail: kraken: timeout since ${new Date(since).toISOString()}.`
  expect(gone?.text.replace(/\s+/g, ' ')).toContain(about)
  expect(back?.subject).toBe('Paymesh recovered: There are no prices')
})

// Guarantee: a crash between two writes loses no mail and doubles none.
it('queues after a crash what it had decided, once', async () => {
  const { deps, pass, mails } = await opened()
  await deps.exceptions.report(stuckRow(BITCOIN, 'stuck', deps.clock.now()))
  const crash = new Error('crash')
  const insertMany = () => Promise.reject(crash)
  await expect(notifyOperators({ ...deps, mails: { ...deps.mails, insertMany } })).rejects.toBe(crash)
  expect(await mails()).toEqual([])
  await pass(2 * MINUTE)
  expect(await mails()).toHaveLength(1)
})
