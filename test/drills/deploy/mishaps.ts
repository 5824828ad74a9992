import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { mainOf, payOnChain, type Shop, untilAnnounced } from './install.ts'
import type { Installation } from './installation.ts'
import { check, type Story } from './story.ts'

const BACK_MS = 120_000
const UNKNOWN = 'PAYMESH_WEBHOK_CONCURRENCY'
const CONTAINER_USER = 10_001

const isStore = (service: string): boolean => /^(?:mongo-\d|redis)$/.test(service)

/** Kills the process of a service; the supervisor of Compose starts it again, and a payment made meanwhile is announced. */
export async function killOnce(story: Story, installation: Installation, shop: Shop, service: string): Promise<void> {
  const { compose } = installation
  const [pid] = compose.pids(service)
  const invoice = await shop.open()
  await check(story, `kill -9 of ${service}: it is started again`, async () => {
    if (pid === undefined) return { checked: 0, faults: [`${service} does not run`] }
    const before = compose.pids(service).length
    process.kill(pid, 'SIGKILL')
    await shop.pay(invoice)
    const isBack = (): boolean => compose.pids(service).length >= before && !compose.pids(service).includes(pid)
    for (const until = Date.now() + BACK_MS; !isBack() && Date.now() < until; ) await delay(100)
    await installation.untilReady(isStore(service) ? undefined : service)
    return { checked: 1, faults: isBack() ? [] : [`${compose.pids(service).length} of ${before} run`] }
  })
  await check(story, `a payment made while ${service} was down is announced`, async () => {
    await untilAnnounced(shop, invoice.id)
    return { checked: 1, faults: [] }
  })
  await payOnChain(story, shop, `after the death of ${service}`)
}

/** A setting that no process knows: `doctor` names it before anything is restarted, and so does the start. */
export async function tryUnknownSetting(story: Story, installation: Installation): Promise<void> {
  const file = join(installation.compose.folder, 'settings.env')
  await tryValues(story, installation, {
    ...{ what: 'an unknown setting', file, named: UNKNOWN },
    change: (text) => `${text}${UNKNOWN}=4\n`,
  })
}

/** Another master key than the one that sealed the stored secrets. */
export async function tryWrongMasterKey(story: Story, installation: Installation): Promise<void> {
  const other = Buffer.from(Array.from({ length: 32 }, (_, index) => (index * 37 + 11) % 256)).toString('base64')
  await tryValues(story, installation, {
    ...{ what: 'a wrong master key', file: join(installation.compose.folder, '.env'), named: 'PAYMESH_MASTER_KEY' },
    change: (text) => text.replace(/^PAYMESH_MASTER_KEY=.*$/m, `PAYMESH_MASTER_KEY=${other}`),
  })
}

interface Faulty {
  readonly what: string
  readonly file: string
  /** A word of the message. */
  readonly named: string
  readonly change: (text: string) => string
}

async function tryValues(story: Story, installation: Installation, { what, file, named, change }: Faulty) {
  const { compose } = installation
  const main = mainOf(story)
  const terminal = installation.terminal()
  const good = readFileSync(file, 'utf8')
  writeFileSync(file, change(good))
  try {
    await check(story, `${what}: doctor names it first and stops nothing`, async () => {
      const before = compose.pids(main)
      const tried = await terminal.type({
        line: `cd deploy/compose && docker compose run --rm --no-deps ${main} node scripts/paymesh.mjs doctor`,
        comment: '',
      })
      const said = tried.stdout + tried.stderr
      return {
        checked: 1,
        faults: [
          ...(tried.status !== 0 && said.includes(named) ? [] : [`doctor ended with ${tried.status}: ${said}`]),
          ...(String(before) === String(compose.pids(main)) ? [] : ['a process was replaced']),
        ],
      }
    })
    await check(story, `${what}: the start ends with a message that names it`, async () => {
      const from = compose.logs(main).length
      const { stderr } = await terminal.type({ line: 'docker compose up -d', comment: '' })
      const said = () => stderr + compose.logs(main).slice(from)
      for (const until = Date.now() + BACK_MS; !said().includes(named) && Date.now() < until; ) await delay(300)
      return { checked: 1, faults: said().includes(named) ? [] : [`nothing names it: ${said().slice(-500)}`] }
    })
  } finally {
    writeFileSync(file, good)
  }
  await check(story, `${what}: with the right value everything works again`, async () => {
    const { status, stderr } = await terminal.type({ line: 'docker compose up -d', comment: '' })
    await installation.untilReady()
    return { checked: 1, faults: status === 0 ? [] : [stderr] }
  })
}

/** A back-up into a folder on a full disk. */
export async function fillDisk(story: Story, installation: Installation): Promise<void> {
  const { compose } = installation
  const small = join(story.dir, 'small-disk')
  const file = join(compose.folder, '.env')
  const good = readFileSync(file, 'utf8')
  mkdirSync(small)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8k', 'tmpfs', small])
  chownSync(small, CONTAINER_USER, CONTAINER_USER)
  writeFileSync(file, `${good}\nBACKUP_DIR=${small}\n`)
  try {
    await check(story, 'a full disk during a back-up: a clear message, nothing half done', async () => {
      const command = ['node', 'scripts/paymesh.mjs', 'backup', 'run', '/backups', '--key-file', '/run/backup.key']
      const { status, stdout, stderr } = await compose.run('backup', command)
      const left = readdirSync(small)
      return {
        checked: 1,
        faults: [
          ...(status !== 0 && stderr.includes('no space is left')
            ? []
            : [`it ended with ${status}: ${stdout}${stderr}`]),
          ...left.map((name) => `${name} is left`),
        ],
      }
    })
  } finally {
    writeFileSync(file, good)
    execFileSync('umount', [small])
  }
}
