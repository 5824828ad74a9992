import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pruneChanges } from '#scripts/backup/changes-folder.ts'
import { continueChain, takeChanges } from '#scripts/backup/take-changes.ts'
import { checkBackup } from '#scripts/cli/doctor/check-backup.ts'
import { readChain } from '#shared/db/backup/change-chain.ts'
import { ChangesLost } from '#shared/db/backup/change-collector.ts'
import { createVerifiedBackups } from '#shared/db/backup/verified-backups.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { seededRandom } from '#test/chaos/random.ts'
import { sampleOf } from '#test/support/depth.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { useStores } from '#test/support/stores.ts'
import { changesStage, KILLS, writeAtRandom } from './changes-stage.ts'

const source = useStores()
const copy = useStores({ migrated: false })
let stage: ReturnType<typeof changesStage>
let random: () => number

beforeAll(() => {
  random = seededRandom('changes')
})
beforeEach(async () => {
  await emptyDatabase(source.db)
  stage = changesStage(source, copy)
})
const folders: string[] = []
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true })
})
const write = async (many = 20) => await writeAtRandom(source.db, random, many)
/** A chain, an archive, and `many` files of changes behind it. */
async function copied(many: number) {
  folders.push(stage.folder)
  await write()
  await stage.copyOnce()
  const file = await stage.archive('one.backup')
  const taken = []
  for (let nth = 0; nth < many; nth += 1) {
    await write()
    taken.push(await stage.copyOnce())
  }
  return { file, taken }
}

/** Wrong restores, each with one mistake. */
const MISTAKES: Readonly<Record<string, (files: readonly string[]) => readonly string[]>> = {
  'the last file is left out': (files) => files.slice(0, -1),
  'a file before the last is left out': (files) => files.slice(1),
  'they are written in another order': (files) => files.toReversed(),
}

describe('changes that are copied', () => {
  // Guards money: whatever is written and wherever the copying process is killed, a restore equals the store at the moment of the newest file.
  it.each(Array.from({ length: EVERY_CASE ? 12 : 1 }, (_, seed) => seed))(
    'lead from any archive to the store as it was, wherever processes are killed (seed %i)',
    async (seed) => {
      folders.push(stage.folder)
      random = seededRandom(`changes ${seed}`)
      await write()
      await stage.copyOnce()
      const archives = [await stage.archive('first.backup')]
      for (let round = 0; round < (EVERY_CASE ? 12 : 6); round += 1) {
        await write(1 + Math.floor(random() * 25))
        const kill = KILLS[Math.floor(random() * KILLS.length * 2)]
        if (kill !== undefined) await expect(stage.copyOnce(kill), kill).rejects.toThrow('killed')
        await write(3)
        if (round % 4 === 1) archives.push(await stage.archive(`${round}.backup`))
        if (kill === undefined || random() < 0.5) await stage.copyOnce()
      }
      await stage.copyOnce()
      for (const file of archives) expect(await stage.faultsOf(file), file).toEqual([])
      expect((await readChain(source.db))?.link.chain).toBe((await stage.verify(archives[0] ?? '')).head.about['chain'])
    },
  )

  it('are continued from each place of a kill, with nothing twice and nothing left out', async () => {
    const { file } = await copied(1)
    for (const kill of sampleOf(KILLS, 2)) {
      await write()
      await expect(stage.copyOnce(kill), kill).rejects.toThrow('killed')
      const before = stage.names().length
      await stage.copyOnce()
      expect(stage.names().length, kill).toBe(before + 1)
      expect(await stage.faultsOf(file), kill).toEqual([])
    }
    // One that was killed hard leaves a half file, which nobody takes for changes.
    writeFileSync(join(stage.folder, 'paymesh-20260101T000000Z-0123456789abcdef.changes.unverified.partial'), 'half')
    expect(await stage.faultsOf(file)).toEqual([])
  })

  it.each(sampleOf(Object.keys(MISTAKES), 1))('are seen to be wrong when %s', async (name) => {
    const { file } = await copied(2)
    expect(await stage.faultsOf(file, null, MISTAKES[name])).not.toEqual([])
  })

  it('record how new they are', async () => {
    const { taken } = await copied(1)
    const latest = await createVerifiedBackups(source.db).latestChanges()
    expect(new Date(latest?.takenAt ?? 0).toISOString()).toBe(taken[0]?.takenAt)
    const clock = { now: () => source.runtime.clock.now() + 600_000 }
    const doctor = checkBackup({ db: source.db, clock, config: { env: 'production' } })
    await expect(doctor).rejects.toThrow(`no changes were copied since ${taken[0]?.takenAt}`)
  })

  // Guards data: what copies files elsewhere looks at those of the last minutes; one that looked older would never arrive, and end the chain.
  it('get the time at which they get their name, however long they were verified', async () => {
    const longAgo = new Date(Date.now() - 3_600_000)
    const slow = {
      ...stage.order(),
      require: async () => {
        for (const name of readdirSync(stage.folder)) utimesSync(join(stage.folder, name), longAgo, longAgo)
      },
    }
    const before = stage.names()
    await takeChanges(stage.deps(), slow, await continueChain(stage.deps(), stage.order()))
    const [made] = stage.names().filter((name) => !before.includes(name))
    expect(statSync(join(stage.folder, made ?? '')).mtimeMs).toBeGreaterThan(longAgo.getTime() + 3_000_000)
  })

  // Guarantee: an operator sees within minutes that a bucket gets nothing any more, although every file is made.
  it('record how new their copies elsewhere are, and those of archives', async () => {
    const elsewhere = mkdtempSync(join(stage.folder, 'copied-'))
    const minutesAgo = (minutes: number) => `${Math.floor(source.runtime.clock.now() / 1_000) - minutes * 60}\n`
    const put = (archives: string, changes: string) => {
      writeFileSync(join(elsewhere, 'archives'), archives)
      writeFileSync(join(elsewhere, 'changes'), changes)
    }
    const doctor = async (): Promise<string> => {
      await write()
      await takeChanges(
        stage.deps(),
        stage.order(stage.folder, elsewhere),
        await continueChain(stage.deps(), stage.order()),
      )
      const { clock } = source.runtime
      return await checkBackup({ db: source.db, clock, config: { env: 'development' } })
    }
    expect(await doctor()).toContain('not copied elsewhere: archives never, changes never')
    put(minutesAgo(5), minutesAgo(1))
    expect(await doctor()).not.toContain('elsewhere')
    put(minutesAgo(37 * 60), minutesAgo(6))
    expect(await doctor()).toMatch(/not copied elsewhere: archives last at .*Z, changes last at .*Z; read the log/)
    // Half written, or on a volume that was replaced: what was recorded stands.
    put(minutesAgo(5), minutesAgo(1))
    await doctor()
    put('', '17')
    expect(await doctor()).toContain('changes last at 1970-01-01T00:00:17.000Z')
    rmSync(elsewhere, { recursive: true })
    expect(await doctor()).toMatch(/elsewhere: changes last at 1970/)
  })

  it('restore the state of an earlier moment', async () => {
    const { file, taken } = await copied(3)
    const [first, second] = taken.map(({ takenAt }) => Date.parse(takenAt))
    expect((await stage.verify(file, first)).changes).toHaveLength(1)
    expect(await stage.faultsOf(file, (second ?? 0) + 1)).toEqual([])
    expect((await stage.verify(file, (second ?? 0) - 1)).changes).toHaveLength(1)
    await expect(stage.verify(file, 0)).rejects.toThrow('later than --until')
  })
})

describe('two processes', () => {
  it('one of which was suspended while it read: the other continues, and the first one gives up or does no harm', async () => {
    const { file } = await copied(1)
    const slow = await continueChain(stage.deps(), stage.order())
    const suspended = {
      ...stage.order(),
      // Between its reading and the name of its file, the other process copies twice.
      require: async () => {
        await write()
        await stage.copyOnce()
        await write()
        await stage.copyOnce()
      },
    }
    await write()
    await takeChanges(stage.deps(), suspended, slow)
    await write()
    await stage.copyOnce()
    expect(await stage.faultsOf(file)).toEqual([])
  })

  it('that are at work at once: the one that is behind finds that its chain has moved on', async () => {
    await copied(1)
    const behind = await continueChain(stage.deps(), stage.order())
    await write()
    await stage.copyOnce()
    await write()
    await stage.copyOnce()
    await expect(takeChanges(stage.deps(), stage.order(), behind)).rejects.toBeInstanceOf(ChangesLost)
  })

  it('with a folder each: the second begins its own chain, and needs an archive', async () => {
    const { file } = await copied(1)
    const other = makeStoreFolder('paymesh-changes-other')
    folders.push(other)
    const before = await readChain(source.db)
    await stage.copyOnce(null, other)
    expect((await readChain(source.db))?.link.chain).not.toBe(before?.link.chain)
    await expect(stage.faultsOf(file)).resolves.toEqual([])
  })
})

describe('a store that went back in time', () => {
  it('begins a new chain, and does not continue what it no longer contains', async () => {
    const { file } = await copied(1)
    const facts = source.db.collection(INSTALLATION)
    const then = await facts.findOne({ _id: 'backup_chain' })
    await write()
    await stage.copyOnce()
    await write()
    await stage.copyOnce()
    const ahead = await continueChain(stage.deps(), stage.order())
    await facts.updateOne({ _id: 'backup_chain' }, { $set: { value: then?.value ?? '' } })
    // The process that lived on, and one that starts.
    await expect(takeChanges(stage.deps(), stage.order(), ahead)).rejects.toBeInstanceOf(ChangesLost)
    expect((await stage.verify(file)).changes).toHaveLength(3)
  })

  it('loses nothing of a folder when the clock is set back: names and times decide nothing', async () => {
    const { file, taken } = await copied(2)
    const [, last] = taken
    const back = last?.name.replace(/paymesh-\d{8}T\d{6}Z/, 'paymesh-20200101T000000Z') ?? ''
    renameSync(join(stage.folder, last?.name ?? ''), join(stage.folder, back))
    await write()
    await stage.copyOnce()
    expect(await stage.faultsOf(file)).toEqual([])
  })
})

describe('a restore with changes', () => {
  // Guards money: no state is restored that skips what was acknowledged between two others.
  it.each(['missing', 'altered', 'cut', 'with another head'])(
    'stops when one of them is %s, and says what would be lost',
    async (how) => {
      const { file, taken } = await copied(3)
      const name = join(stage.folder, taken[1]?.name ?? '')
      const bytes = readFileSync(name)
      if (how === 'missing') unlinkSync(name)
      if (how === 'altered') writeFileSync(name, bytes.with(bytes.length - 20, (bytes.at(-20) ?? 0) ^ 1))
      if (how === 'cut') writeFileSync(name, bytes.subarray(0, bytes.length - 5))
      if (how === 'with another head')
        writeFileSync(name, bytes.toString('latin1').replace('"number":3', '"number":9'), 'latin1')
      const failure = await stage.verify(file).catch((error: Error) => error)
      expect(failure).toMatchObject({ name: 'ChangesMissing', message: expect.stringContaining('Nothing was written') })
      expect(String(failure)).toContain(`With --until ${taken[0]?.takenAt}`)
      expect(String(failure)).toMatch(/[1-9]\d* s of changes are lost/)
      expect(await stage.faultsOf(file, Date.parse(taken[0]?.takenAt ?? ''))).toEqual([])
    },
  )

  it('stops when none of them is there, and when the newest follow another archive', async () => {
    const { file, taken } = await copied(1)
    const alone = makeStoreFolder('paymesh-changes-alone')
    folders.push(alone)
    copyFileSync(file, join(alone, 'one.backup'))
    await expect(stage.verify(join(alone, 'one.backup'))).rejects.toThrow('has no file of them')
    await expect(stage.verify(join(stage.folder, taken[0]?.name ?? ''))).rejects.toThrow('holds changes')
    await source.db.collection(INSTALLATION).deleteOne({ _id: 'backup_chain' })
    await stage.copyOnce()
    await expect(stage.verify(file)).rejects.toThrow('or follow another archive')
  })

  it('takes no notice of changes of another installation', async () => {
    const { file } = await copied(2)
    await source.db.collection(INSTALLATION).deleteMany({ _id: { $in: ['backup_chain', 'life', 'id'] } })
    await stage.copyOnce()
    await stage.copyOnce()
    expect((await stage.verify(file)).changes).toHaveLength(2)
  })
})

describe('old changes', () => {
  it('are removed once no kept archive needs them and they are a day old, and never those of another installation', async () => {
    await copied(2)
    // The archive names an attempt; the file that takes its place is needed, and has the same number.
    await expect(stage.copyOnce('after it wrote the moment')).rejects.toThrow('killed')
    const second = await stage.archive('two.backup')
    await write()
    const kept = await stage.copyOnce()
    const own = await stage.deps().installationLife.read()
    const all = stage.names().length
    const prune = async (installation: string, now: number) =>
      await pruneChanges(stage.folder, ['two.backup'], { ...own, installation }, { keepDays: 30, now })
    await prune(own.installation, Date.now())
    expect(stage.names()).toHaveLength(all)
    await prune('another', Date.now() + 2 * 86_400_000)
    expect(stage.names()).toHaveLength(all)
    await prune(own.installation, Date.now() + 2 * 86_400_000)
    expect(stage.names()).toEqual([kept.name])
    expect(await stage.faultsOf(second)).toEqual([])
  })
})
