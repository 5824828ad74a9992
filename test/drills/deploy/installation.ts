import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ROOT } from '#scripts/bundle.mjs'
import { connectDatabase, type Database } from '#shared/db/connection/connect.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import type { CommandLine } from '../command-line.ts'
import { type Compose, createCompose } from './compose.ts'
import { readValues } from './compose-file.ts'
import type { Machine } from './containers.ts'
import { answerDocker } from './docker-command.ts'
import { createImages } from './images.ts'
import { createNetwork, type Network } from './network.ts'
import { openTerminal, type Terminal } from './readme.ts'

/** A machine with a checkout, on which somebody follows `deploy/README.md`. */
export interface Installation {
  readonly name: string
  readonly checkout: string
  readonly compose: Compose
  readonly network: Network
  /** A terminal in the checkout's folder. */
  terminal(): Terminal
  /** `paymesh` in the container of the command line. */
  readonly cli: CommandLine
  /** Its database, from outside, at the member that is primary now. */
  database(): Promise<Database>
  /** The service of MongoDB that is primary now. Throws after a minute without one. */
  primary(): Promise<string>
  /** Waits until a container of Paymesh is ready; without a name, the one of the command line. Throws when it does not become ready. */
  untilReady(service?: string, slot?: number): Promise<void>
  stop(): Promise<void>
}

export interface InstallationOptions {
  readonly name: string
  /** A separate folder, which this creates. */
  readonly dir: string
  readonly mongodFolder: string
  /** The service whose container has the command line: `serve` or `api`. */
  readonly main: 'serve' | 'api'
  readonly commit: string
  readonly say: (line: string) => void
}

const READY_MS = 240_000
const PRIMARY_MS = 60_000

/** Clones this repository at a commit; its packages, and bundles of equal sources, are those of this checkout. */
export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const { name, dir, mongodFolder, main, commit, say } = options
  mkdirSync(dir, { recursive: true })
  const checkout = join(dir, 'checkout')
  const git = (...args: readonly string[]) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  // A separate repository, whose tags stay as they are while others work in this one.
  const origin = join(dir, 'origin.git')
  git('clone', '--quiet', '--shared', '--bare', ROOT, origin)
  git('clone', '--quiet', '--shared', '--no-checkout', origin, checkout)
  git('-C', checkout, 'checkout', '--quiet', '--detach', commit)
  for (const shared of ['node_modules', '.cache']) {
    mkdirSync(join(ROOT, shared), { recursive: true })
    symlinkSync(join(ROOT, shared), join(checkout, shared))
  }
  const machine: Machine = { dir, mongodFolder }
  for (const [file, line] of [
    ['passwd', 'mongodb:x:999:999::/data/db:/bin/false\n'],
    ['group', 'mongodb:x:999:\n'],
  ] as const) {
    writeFileSync(join(dir, file), readFileSync(`/etc/${file}`, 'utf8'))
    appendFileSync(join(dir, file), line)
  }
  const network = createNetwork(dir)
  const compose = createCompose({
    machine,
    checkout,
    network,
    images: createImages(checkout, join(dir, 'images')),
    say,
  })
  const docker = await answerDocker(join(dir, 'docker.sock'), compose)
  const env = terminalEnvironment(dir, docker.socket, network)
  const run: CommandLine['run'] = (...args) => compose.exec(main, ['node', 'scripts/paymesh.mjs', ...args])
  const databases: Database[] = []
  const primary = async (): Promise<string> => {
    for (const until = Date.now() + PRIMARY_MS; Date.now() < until; await delay(500)) {
      for (const member of ['mongo-0', 'mongo-1', 'mongo-2']) {
        const hello = await compose.exec(member, ['mongosh', '--quiet', '--eval', 'db.hello().isWritablePrimary'])
        if (hello.stdout.trim() === 'true') return member
      }
    }
    throw new Error('no member of MongoDB is primary')
  }
  return {
    name,
    checkout,
    compose,
    network,
    terminal: () => openTerminal(checkout, env),
    cli: {
      run,
      json: async <T>(...args: readonly string[]) => {
        const { status, stdout, stderr } = await run(...args, '--json')
        if (status !== 0) throw new Error(`paymesh ${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
        return JSON.parse(stdout) as T
      },
    },
    primary,
    database: async () => {
      const { MONGO_PASSWORD: password = '' } = readValues(join(compose.folder, '.env'))
      const logger = createLogger({ name: 'drill', level: 'silent' })
      const url = `mongodb://paymesh:${password}@${network.address(await primary(), 0)}:27017/?directConnection=true&authSource=admin`
      const db = await connectDatabase({ url, name: 'paymesh', logger })
      databases.push(db)
      return db
    },
    untilReady: async (service = main, slot = 0) => {
      const url = `http://${network.address(service, slot)}:4110/readyz`
      for (const until = Date.now() + READY_MS; Date.now() < until; await delay(300)) {
        const isReady = await fetch(url, { signal: AbortSignal.timeout(3_000) }).then(
          (answer) => answer.ok,
          () => false,
        )
        if (isReady) return
      }
      throw new Error(`${service} did not become ready:\n${compose.logs(service).split('\n').slice(-15).join('\n')}`)
    },
    stop: async () => {
      for (const db of databases) await db.close()
      await docker.close()
      await compose.down(['backup', 'backup-s3', 'watch'])
    },
  }
}

/** A terminal has the stand-ins for docker and sudo, and a curl that finds the machine's names at its load balancer. */
function terminalEnvironment(dir: string, socket: string, { tls, certificate }: Network): NodeJS.ProcessEnv {
  writeFileSync(join(dir, '.curlrc'), `fail-with-body\nconnect-to = "::${tls}"\ncacert = "${certificate}.crt"\n`)
  return {
    PATH: `${join(import.meta.dirname, 'host')}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: dir,
    CURL_HOME: dir,
    DRILL_SOCKET: socket,
  }
}
