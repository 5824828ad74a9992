import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findMongod } from '#dev/embedded/find-mongod.ts'
import { startExchangeSimulator } from '#dev/exchange-simulator/simulator.ts'
import { startLocalNodes } from '#dev/local-chain/local-nodes.ts'
import { ROOT } from '#scripts/bundle.mjs'
import { startSmtpSink } from '#test/support/smtp-sink.ts'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { previousTag } from '../previous-release.ts'
import { openInstallation } from './installation.ts'
import { drillOneProcess } from './one-process.ts'
import { drillProcessPerType } from './process-per-type.ts'
import type { Story } from './story.ts'
import { updateAndGoBack } from './updates.ts'

/** What stands in for the images of other makers, and what the README's commands call. */
const PROGRAMS = ['haproxy', 'redis-server', 'openssl', 'curl']

const USAGE = `usage: npm run drill:deploy -- [options]

Follows deploy/README.md on machines without containers: takes its commands, the Compose files and the Dockerfile's
settings, and runs each container's command as a process with the container's own file system, user and address. Start,
first invoices, back-up, restore on a second machine, going back and updating under load, and mishaps. Needs root,
haproxy, redis-server, openssl, curl, MongoDB and anvil. The status is 0 only when every check passed.

  --story <name>     one-process, one-process-update or process-per-type (default: all; may be repeated)
  --commit <commit>  the release before, taken from git (default: the newest tag before this commit; without one, this
                     commit, which is then updated to itself)
  --keep             keeps data and logs and prints where they are
`
const STORIES = {
  'one-process': { form: 'one-process', drill: drillOneProcess },
  'one-process-update': { form: 'one-process', drill: updateAndGoBack },
  'process-per-type': { form: 'process-per-type', drill: drillProcessPerType },
} as const

const { values } = parseArgs({
  options: {
    story: { type: 'string', multiple: true },
    commit: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** Whether a folder of PATH has a program of that name. */
const isInstalled = (program: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

const startedAt = Date.now()
const say = (line: string): void => {
  process.stdout.write(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`)
}
const checks: Check[] = []

async function main(): Promise<number> {
  const stories = Object.entries(STORIES).filter(([name]) => values.story === undefined || values.story.includes(name))
  if (stories.length === 0 || process.getuid?.() !== 0) {
    process.stderr.write(USAGE)
    return 2
  }
  const missing = PROGRAMS.filter((program) => !isInstalled(program))
  if (missing.length > 0) {
    process.stderr.write(`drill:deploy: not installed: ${missing.join(', ')}\n`)
    return 2
  }
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-deploy-'))
  // The users of the containers pass through it.
  chmodSync(dir, 0o755)
  try {
    for (const [name, { form, drill }] of stories) await tell(name, { form, dir: join(dir, name) }, drill)
  } finally {
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
  const failed = checks.filter((check) => !isKept(check)).length
  process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

async function tell(
  name: string,
  { form, dir }: Pick<Story, 'form' | 'dir'>,
  drill: (story: Story) => Promise<void>,
): Promise<void> {
  const undo: Story['undo'] = []
  const enter = (check: Check): void => {
    checks.push(check)
    for (const line of describeCheck(check).split('\n')) say(line)
  }
  try {
    say(`${name}: starting a chain, exchanges and a mail server`)
    mkdirSync(dir, { recursive: true })
    const nodes = await startLocalNodes({
      networks: ['ethereum'],
      dataDir: join(dir, 'data'),
      ethereumPort: 0,
      report: say,
    })
    undo.push(nodes.stop)
    const exchanges = await startExchangeSimulator({ port: 0 })
    undo.push(exchanges.stop)
    const around = { nodes: nodes.settings, rateSourceUrls: exchanges.sourceUrls }
    const mailServer = await startSmtpSink()
    undo.push(mailServer.close)
    const mongodFolder = dirname(await findMongod(say))
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
    const earlier = values.commit ?? previousTag() ?? commit
    if (earlier === commit) say('no release was made before this commit: updates go from it to itself')
    const open: Story['open'] = async ({ name: machine, commit: other }) => {
      const installation = await openInstallation({
        ...{ name: machine, dir: join(dir, machine), mongodFolder, say, commit: other ?? commit },
        main: form === 'one-process' ? 'serve' : 'api',
      })
      undo.push(installation.stop)
      return installation
    }
    await drill({ form, dir, commit, earlier, around, mailUrl: mailServer.url, open, undo, say, enter })
  } catch (error) {
    enter({
      promise: `${name}: the drill runs to its end`,
      checked: 1,
      faults: [error instanceof Error ? (error.stack ?? '') : String(error)],
    })
  } finally {
    for (const step of undo.reverse()) {
      try {
        await step()
      } catch (error) {
        say(`ending: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
}

if (values.help) process.stdout.write(USAGE)
else process.exit(await main())
