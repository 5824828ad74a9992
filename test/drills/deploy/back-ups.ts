import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ROOT } from '#scripts/bundle.mjs'
import { doctorFaults, failed, inForm, mainOf, type Shop } from './install.ts'
import type { Installation } from './installation.ts'
import { blockOf, type PageCommand, type Terminal } from './readme.ts'
import { check, type Story } from './story.ts'

const VERIFIED_MS = 180_000
const CONFIRMED_MS = 180_000
/** What the page calls the archive. */
const ARCHIVE = 'paymesh-20260101T021700Z.backup'
/** Files that the page names for a new machine. */
const CARRIED = ['.env', 'settings.env', 'mongo-keyfile', 'backup.key', 'backups']

/** "Back-ups", Compose: a verified archive, and a doctor without a fault. Returns the name of the archive. */
export async function backUp(story: Story, installation: Installation): Promise<string> {
  const { compose } = installation
  const folder = join(compose.folder, 'backups')
  const archives = (): readonly string[] =>
    existsSync(folder) ? readdirSync(folder).filter((name) => /^paymesh-\w+\.backup$/.test(name)) : []
  await check(story, 'the commands of "Back-ups" make a verified archive, and doctor finds no fault', async () => {
    const commands = blockOf(ROOT, 'base64 32 > backup.key')
    const terminal = installation.terminal()
    const faults: string[] = []
    for (const command of commands) {
      let ended = await terminal.type(command)
      const isShown = (): boolean => archives().some((name) => ended.stdout.includes(`${name}: verified`))
      if (command.line.includes('logs backup')) {
        for (const until = Date.now() + VERIFIED_MS; !isShown() && Date.now() < until; await delay(1_000)) {
          ended = await terminal.type(command)
        }
        if (!isShown()) faults.push(`no verified archive is in the log: ${ended.stdout.slice(-300)}`)
      }
      faults.push(...failed(command, ended))
    }
    const doctor = await installation.cli.run('doctor')
    if (doctor.status !== 0) faults.push(`doctor ended with ${doctor.status}:\n${doctor.stdout}${doctor.stderr}`)
    return { checked: commands.length + 1, faults }
  })
  return archives().at(-1) ?? ''
}

/** "Restoring", Compose, on a second machine; its restore is interrupted once first. */
export async function restoreElsewhere(story: Story, first: Installation, archive: string, shop: Shop): Promise<void> {
  const second = await story.open({ name: 'second' })
  mkdirSync(second.compose.folder, { recursive: true })
  for (const name of CARRIED) {
    const from = join(first.compose.folder, name)
    // What is being written now may have another name in a moment.
    const filter = (each: string): boolean => !/\.(partial|unverified)$/.test(each)
    cpSync(from, join(second.compose.folder, name), { recursive: true, preserveTimestamps: true, filter })
  }
  // cp -p keeps owners; copyFile does not.
  await second
    .terminal()
    .type({ line: 'cd deploy/compose && chown 10001:10001 backup.key backups backups/*', comment: '' })
  const page = restorePage(story, second, archive)
  await check(
    story,
    'an interrupted restore leaves a database in which nothing starts, and is repeated after a drop',
    async () => {
      await page.type(/down$/)
      await page.type(/^docker compose up -d.*mongo-init/)
      const wasInterrupted = await interrupt(page, second, archive)
      const start = await page.terminal.type({ line: 'docker compose up -d', comment: '' })
      const said = `${start.stderr}${second.compose.logs('migrate')}${second.compose.logs(mainOf(story))}`
      await page.type(/down$/)
      await page.type(/^docker compose up -d.*mongo-init/)
      await page.type(/dropDatabase/)
      return {
        checked: 1,
        faults: [
          ...(wasInterrupted ? [] : ['the restore ended before it could be interrupted']),
          ...(start.status !== 0 && /restor/i.test(said)
            ? []
            : [`after it processes started: ${start.status} ${said.slice(-400)}`]),
        ],
      }
    },
  )
  const arrivedBefore = shop.received.length
  await check(
    story,
    'the commands of "Restoring" bring the installation up on a second machine, silent until confirmed',
    async () => {
      const faults: string[] = []
      faults.push(...(await page.type(/backup restore/)))
      faults.push(...(await page.type(/^docker compose up -d$/)))
      await second.untilReady()
      faults.push(...(await page.type(/doctor$/)))
      if (shop.received.length !== arrivedBefore) faults.push('a webhook was sent before the restore was confirmed')
      for (const until = Date.now() + CONFIRMED_MS; ; await delay(2_000)) {
        const refused = await page.type(/confirm-restore$/)
        if (refused.length === 0) break
        if (Date.now() > until) return { checked: 4, faults: [...faults, ...refused] }
      }
      return { checked: 4, faults }
    },
  )
  await check(story, 'the restored installation has the same records', async () => {
    const [one, other] = await Promise.all([first.database(), second.database()])
    const names = ['invoices', 'payments', 'events', 'workspaces', 'users', 'api_keys'] as const
    const faults: string[] = []
    let checked = 0
    for (const name of names) {
      const ids = async (db: typeof one) =>
        (
          await db.connection
            .collection(name)
            .find({}, { projection: { _id: 1 } })
            .toArray()
        ).map(({ _id }) => String(_id))
      const [before, after] = await Promise.all([ids(one), ids(other)])
      checked += after.length
      const missing = before.filter((id) => !after.includes(id))
      if (missing.length > 0) faults.push(`${missing.length} of ${before.length} ${name} are missing`)
    }
    const reconciled = await second.cli.run('reconcile')
    if (reconciled.status !== 0) faults.push(reconciled.stdout + reconciled.stderr)
    return { checked, faults }
  })
  await second.compose.down(['backup'])
}

/** The second machine has neither the marks nor the Redis of the first. */
const LOST = { ' --key-file /run/backup.key': ' --key-file /run/backup.key --skip 1000' }

interface RestorePage {
  readonly terminal: Terminal
  /** Types the command of the page that matches; returns what went wrong. */
  type(pattern: RegExp): Promise<readonly string[]>
}

function restorePage(story: Story, { terminal }: Installation, archive: string): RestorePage {
  const commands: readonly PageCommand[] = blockOf(ROOT, 'dropDatabase')
  const open = terminal()
  const first = commands[0]
  if (first?.line !== 'cd deploy/compose') throw new Error('"Restoring" does not begin in deploy/compose')
  const opened = open.type(first)
  return {
    terminal: open,
    type: async (pattern) => {
      await opened
      const found = commands.map((command) => inForm(story, command)).filter(({ line }) => pattern.test(line))
      const [command] = found
      if (command === undefined || found.length > 1)
        return [`${found.length} commands of "Restoring" match ${pattern.source}, not one`]
      const ended = await open.type(command, command.line.includes(ARCHIVE) ? { [ARCHIVE]: archive, ...LOST } : {})
      return command.line.endsWith('doctor') ? doctorFaults(ended) : failed(command, ended)
    },
  }
}

/** Kills a restore as soon as it has written something; false when it was quicker every time. */
async function interrupt(page: RestorePage, { compose, database }: Installation, archive: string): Promise<boolean> {
  const db = await database()
  const command = [
    'node',
    'scripts/paymesh.mjs',
    'backup',
    'restore',
    `/backups/${archive}`,
    '--key-file',
    '/run/backup.key',
    '--skip',
    '1000',
  ]
  for (let tries = 0; tries < 5; tries += 1) {
    const { status } = await compose.run('backup', command, (child) => {
      const watch = async (): Promise<void> => {
        while (!child.hasExited()) {
          const collections = await db.connection.db?.listCollections({}, { nameOnly: true }).toArray()
          if ((collections?.length ?? 0) > 0) return void child.kill('SIGKILL')
        }
      }
      void watch().catch(() => undefined)
    })
    if (status !== 0) return true
    await page.type(/dropDatabase/)
  }
  return false
}
