import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Invoice } from '#clients/typescript/src/main.ts'
import type { Environment } from '#scripts/start/environment.ts'
import { createIssuedRepository } from '#shared/db/restore/issued-repository.ts'
import { ADDRESSES } from '#shared/db/wallets/wallet-models.ts'
import { type LossyInstallation, newXpub, openLossyInstallation, PATIENCE } from '#test/support/lossy-installation.ts'
import { runCommandProcess } from '#test/support/run-command.ts'
import { type DrillRow, drillTable, largestGap } from './lost-minutes-table.ts'

/**
 * The database of an installation loses minutes, in each way that it can come back. The installation is real: mongod, Redis, one process of
 * each type, and the command line in its own processes. Invoices are created until the moment of the loss and during it.
 */
const START_MS = 600_000
/** Invoices before the copy, in the lost minutes, and since. */
const COUNT = Number(process.env['LOST_INVOICES'] ?? 60)
const FAMILIES = { usdt_ethereum: 'evm', usdt_tron: 'tron' } as const

/** What an operator does, and has to enter afterwards. */
interface Way {
  readonly name: string
  /** Processes stay down when they are killed. */
  readonly keepAlive: boolean
  readonly env: Environment
  /** Keeps what will come back. */
  keep(on: LossyInstallation): Promise<void>
  /** Loses the database while invoices are created. */
  lose(on: LossyInstallation): Promise<void>
  /** Brings it back, with every process. Returns the first index of a wallet that is added again. */
  comeBack(on: LossyInstallation): Promise<number>
  /** Whether webhooks wait for `confirm-restore`. */
  readonly isRestored: boolean
}

const archiveOf = ({ folder }: LossyInstallation) => join(folder, 'paymesh.backup')

/** Runs a `backup` command in its own process, as an operator does. */
async function backup({ folder, rig }: LossyInstallation, ...args: readonly string[]) {
  const keyFile = join(folder, 'backup.key')
  return await runCommandProcess(['backup', ...args, '--key-file', keyFile, '--json', '--data', rig.dataDir])
}

async function takeArchive(on: LossyInstallation): Promise<void> {
  writeFileSync(join(on.folder, 'backup.key'), randomBytes(32).toString('base64'))
  expect(await backup(on, 'create', archiveOf(on))).toMatchObject({ status: 0 })
}

/** Kills the processes and drops the database: what an archive is for. */
async function destroy(on: LossyInstallation): Promise<void> {
  await on.killAll()
  await on.withDatabase(({ connection }) => connection.dropDatabase())
}

async function restoreByMarks(on: LossyInstallation): Promise<number> {
  const restored = await backup(on, 'restore', archiveOf(on))
  expect(restored).toMatchObject({ status: 0 })
  expect(JSON.parse(restored.stdout)).toMatchObject({ are_marks_current: true })
  await on.startAll()
  return 0
}

/** Nothing outside the database remembers: the operator has to enter the figure that the refusal prints. */
async function restoreWithoutMarks(on: LossyInstallation): Promise<number> {
  await on.rig.redis.wipe()
  rmSync(join(on.rig.dataDir, 'marks'), { recursive: true })
  const refused = await backup(on, 'restore', archiveOf(on))
  expect(refused.status).not.toBe(0)
  expect(refused.stderr).toContain('No record was found of what was issued since the archive was made')
  expect(await on.withDatabase(({ connection }) => connection.listCollections())).toEqual([])
  // An operator who starts the processes all the same.
  await expect(on.rig.stack.restart('api')).rejects.toThrow('did not become ready')
  await expect(on.world.createInvoice()).rejects.toThrow()

  const advised = [...refused.stderr.matchAll(/so skip (\d+)/g)].map(([, figure]) => Number(figure))
  expect(refused.stderr).toMatch(/ test:evm:[^\n]*so skip/)
  expect(refused.stderr).toMatch(/invoice numbers of [^\n]*so skip/)
  const skip = Math.max(...advised)
  expect(await backup(on, 'restore', archiveOf(on), '--skip', String(skip))).toMatchObject({ status: 0 })
  await on.startAll()
  return skip
}

async function copyFiles(on: LossyInstallation): Promise<void> {
  await on.stopStore()
  on.copyFiles()
  await on.startStore()
}

async function putFilesBack(on: LossyInstallation): Promise<number> {
  on.putFilesBack()
  await on.startStore()
  return 0
}

const WAYS: readonly Way[] = [
  {
    name: '(a) our restore',
    ...{ keepAlive: false, env: {}, keep: takeArchive, lose: destroy, comeBack: restoreByMarks, isRestored: true },
  },
  {
    // Redis alone remembers, and every process lives on.
    name: '(b) data files put back',
    ...{ keepAlive: true, env: { PAYMESH_MARKS_DIR: '' }, keep: copyFiles },
    ...{ lose: (on) => on.stopStore(), comeBack: putFilesBack, isRestored: false },
  },
  {
    name: '(c) no mark, --skip',
    ...{ keepAlive: false, env: {}, keep: takeArchive, lose: destroy, comeBack: restoreWithoutMarks, isRestored: true },
  },
]

const nextIndexOf = async (on: LossyInstallation, family: string): Promise<number | null> => {
  const counters = await on.withDatabase((db) => createIssuedRepository(db).listCounters())
  return counters.find(({ materialId }) => materialId.startsWith(`test:${family}:`))?.nextIndex ?? null
}
const addressOf = ({ crypto }: Invoice): string => crypto?.address ?? ''
const twice = <T>(values: readonly T[]): readonly T[] => values.filter((value, at) => values.indexOf(value) !== at)

/** The indexes of addresses that the database has, so that scanners watch them. */
async function indexesOf(on: LossyInstallation, invoices: readonly Invoice[]): Promise<readonly number[]> {
  const address = { $in: invoices.map(addressOf) }
  const rows = await on.withDatabase((db) => db.collection(ADDRESSES).find({ address }).toArray())
  return rows.map(({ index }) => index)
}

/** Pays an address of the lost minutes, and returns what the inbox shows of it. */
async function findMoney({ world }: LossyInstallation, invoice: Invoice): Promise<string> {
  const txHash = await world.pay(invoice)
  const detail = await vi.waitFor(async () => {
    const args = ['exception', 'list', '--workspace', world.workspaceId]
    const open = await world.cli<readonly { kind: string; detail: string }[]>(...args)
    const found = open.find((one) => one.kind === 'unmatched' && one.detail.includes(txHash))
    return found?.detail ?? Promise.reject(new Error('no exception shows the payment'))
  }, PATIENCE)
  expect(detail.toLowerCase()).toContain(addressOf(invoice).toLowerCase())
  return `${invoice.crypto?.amount} USDT, unmatched`
}

const rows: DrillRow[] = []

describe.each(WAYS)('$name', (way) => {
  let on: LossyInstallation | null = null
  afterAll(async () => await on?.close())

  // Guarantee: no address and no number is issued twice, however the database came back.
  test('issues nothing twice, and finds the money of the lost minutes', { timeout: START_MS }, async () => {
    const { keepAlive, env } = way
    on = await openLossyInstallation({ invoices: 3 * COUNT, keepAlive, env })
    const keys = { usdt_ethereum: newXpub(), usdt_tron: newXpub() }
    await on.addWallet('evm', keys.usdt_ethereum, 0)
    const before = [await on.patientInvoice('usdt_ethereum')]
    const calm = on.startLoad()
    await calm.reached(COUNT)
    before.push(...(await calm.finish()))
    await way.keep(on)

    const first = await on.patientInvoice('usdt_ethereum')
    await on.addWallet('tron', keys.usdt_tron, 0)
    const lostTron = [await on.patientInvoice('usdt_tron')]
    const load = on.startLoad()
    await load.reached(COUNT)
    const nextBefore = { evm: await nextIndexOf(on, 'evm'), tron: await nextIndexOf(on, 'tron') }
    const loss = await load.lose(() => way.lose(on as LossyInstallation))
    const lost = [first, ...loss.lost]
    const startIndex = await way.comeBack(on)

    const since = [await on.patientInvoice('usdt_ethereum')]
    since.push(...(await loss.late()))
    await expect(on.world.getInvoice(first.id)).rejects.toMatchObject({ status: 404 })
    const again = on.startLoad()
    await again.reached(COUNT)
    since.push(...(await again.finish()))
    await on.addWallet('tron', keys.usdt_tron, startIndex)
    const sinceTron = [await on.patientInvoice('usdt_tron')]

    const issued = { usdt_ethereum: [before, lost, since], usdt_tron: [[], lostTron, sinceTron] } as const
    const all = Object.values(issued).flat(2)
    expect(twice(all.map(({ number }) => number))).toEqual([])
    const found = { usdt_ethereum: await findMoney(on, first), usdt_tron: 'not paid here' }
    for (const asset of ['usdt_ethereum', 'usdt_tron'] as const) {
      const family = FAMILIES[asset]
      const invoices = issued[asset].flat()
      const indexes = await indexesOf(on, invoices)
      const repeated = twice(invoices.map(addressOf))
      rows.push({
        ...{ way: way.name, key: family, lost: issued[asset][1].length, since: issued[asset][2].length },
        ...{ nextBefore: nextBefore[family], nextAtEnd: await nextIndexOf(on, family) },
        ...{ skipped: largestGap(indexes), twice: repeated.length, found: found[asset] },
      })
      expect(repeated).toEqual([])
      // Every address that was ever issued is watched.
      expect(indexes).toHaveLength(invoices.length)
    }
    const { world } = on
    if (way.isRestored)
      expect(await vi.waitFor(() => world.cli('backup', 'confirm-restore'), PATIENCE)).toEqual({ overrun: [] })
  })
})

afterAll(() => {
  process.stdout.write(`\n${drillTable(rows)}\n`)
})
