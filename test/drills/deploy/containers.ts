import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type GuardedChild, startGuarded } from '#dev/embedded/guarded-child.ts'
import { ROOT } from '#scripts/bundle.mjs'
import type { CommandOutcome } from '../command-line.ts'

const HERE = import.meta.dirname
/** Where a container finds the stand-ins for the programs of other images, and their packages. */
const STAND_INS = '/opt/drill/programs'
const PATH = `${STAND_INS}:/opt/drill/mongod:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`

/** A container without its command. */
export interface Shell {
  /** Address on this machine that belongs to it alone. */
  readonly address: string
  /** Absolute path of its `/etc/hosts`. */
  readonly hostsFile: string
  /** Folder of this machine that is its `/app`; null for an image that is not of Paymesh. */
  readonly imageFolder: string | null
  readonly workFolder: string
  readonly user: string
  readonly isReadOnly: boolean
  readonly environment: Readonly<Record<string, string>>
  readonly mounts: readonly { readonly from: string; readonly to: string; readonly isReadOnly: boolean }[]
}

/** What every container of a drill shares. */
export interface Machine {
  /** Absolute path of the container's folder. */
  readonly dir: string
  /** Folder with a `mongod`. */
  readonly mongodFolder: string
}

let count = 0

function commandLine({ dir, mongodFolder }: Machine, shell: Shell, words: readonly string[]): readonly string[] {
  count += 1
  const root = join(dir, 'roots', String(count))
  mkdirSync(root, { recursive: true })
  const mounts = [
    { from: shell.hostsFile, to: '/etc/hosts', isReadOnly: true },
    ...['passwd', 'group'].map((name) => ({ from: join(dir, name), to: `/etc/${name}`, isReadOnly: true })),
    { from: join(HERE, 'inside'), to: STAND_INS, isReadOnly: true },
    { from: join(ROOT, 'node_modules'), to: '/opt/drill/node_modules', isReadOnly: true },
    { from: mongodFolder, to: '/opt/drill/mongod', isReadOnly: true },
    ...(shell.imageFolder === null ? [] : [{ from: shell.imageFolder, to: '/app', isReadOnly: true }]),
    ...shell.mounts,
  ]
  return [
    ...['unshare', '--mount', 'sh', join(HERE, 'container.sh'), root, shell.user, shell.workFolder],
    shell.isReadOnly ? 'read-only' : 'writable',
    ...mounts.map(({ from, to, isReadOnly }) => `${from}=${to}${isReadOnly ? '=ro' : ''}`),
    ...['--', ...words],
  ]
}

/** No variable of this machine reaches a container. */
const variables = ({ environment, address }: Shell): NodeJS.ProcessEnv => ({
  PATH,
  HOME: '/tmp',
  ...environment,
  CONTAINER_ADDRESS: address,
  // In a container every address is its own; here this one is.
  ...(environment['PAYMESH_API_HOST'] !== undefined && { PAYMESH_API_HOST: address }),
})

/** Starts a container; what it prints is appended to a file. */
export async function startContainer(
  machine: Machine,
  shell: Shell,
  words: readonly string[],
  logFile: string,
): Promise<GuardedChild> {
  const [file = '', ...args] = commandLine(machine, shell, words)
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'a')
  try {
    return await startGuarded(file, args, { cwd: '/', env: variables(shell), stdio: ['ignore', log, log] })
  } finally {
    closeSync(log)
  }
}

/** A program in a container that runs to its end; `started` gets its process first. */
export async function runContained(
  machine: Machine,
  shell: Shell,
  words: readonly string[],
  started: (child: GuardedChild) => void = () => undefined,
): Promise<CommandOutcome> {
  count += 1
  const [out, err] = [join(machine.dir, 'output', `${count}.out`), join(machine.dir, 'output', `${count}.err`)]
  mkdirSync(dirname(out), { recursive: true })
  const [file = '', ...args] = commandLine(machine, shell, words)
  const files = [openSync(out, 'w'), openSync(err, 'w')] as const
  const child = await startGuarded(file, args, { cwd: '/', env: variables(shell), stdio: ['ignore', ...files] })
  for (const open of files) closeSync(open)
  started(child)
  const { code } = await child.exited
  return { status: code ?? 1, stdout: readFileSync(out, 'utf8'), stderr: readFileSync(err, 'utf8') }
}
