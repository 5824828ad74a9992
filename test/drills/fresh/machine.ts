import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startGuarded } from '#dev/embedded/guarded-child.ts'
import { ROOT } from '#scripts/bundle.mjs'

const run = promisify(execFile)
const RELEASE = 'bookworm'
const MOST_OUTPUT = 64 * 1024 * 1024
/** Where the machine has the certificates of this one: an installation of Debian's own replaces the usual file. */
const CERTIFICATES = '/etc/host-certificates.crt'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Variables of this machine that say how the registries are reached. */
const NETWORK = /cert|ca_bundle|cainfo|proxy|_index/i

/** Who runs a command on the machine. */
export interface Person {
  readonly name: string
  readonly home: string
}

export const ROOT_USER: Person = { name: 'root', home: '/root' }
export const ORDINARY_USER: Person = { name: 'visitor', home: '/home/visitor' }

/** A folder that holds a whole system, entered with its own processes and mounts, which end with each command. */
export interface Machine {
  /** Runs a line of shell in this person's clone; resolves with its status and the whole output, which is also shown as it arrives. */
  run(person: Person, line: string): Promise<{ readonly status: number | null; readonly output: string }>
}

/**
 * Makes Debian's smallest system with Git and the Node and npm of this machine, and nothing else, in `folder`. Mirrors, certificates and
 * registries are those that apt, npm and pip use here.
 */
export async function makeSystem(folder: string): Promise<void> {
  const order = ['--variant=minbase', '--include=git', RELEASE, folder, mirror()]
  await run('debootstrap', order, { maxBuffer: MOST_OUTPUT })
  for (const path of ['/etc/apt/sources.list', '/etc/apt/sources.list.d', '/etc/resolv.conf', '/etc/hosts'])
    if (existsSync(path)) cpSync(path, join(folder, path), { recursive: true, dereference: true })
  const apt = execFileSync('apt-config', ['dump'], { encoding: 'utf8' })
  const kept = apt.split('\n').filter((line) => /^Acquire::(Check-|http|https)/i.test(line))
  writeFileSync(join(folder, 'etc/apt/apt.conf.d/99host'), `${kept.join('\n')}\n`)
  copyNode(folder)
  const bundle = '/etc/ssl/certs/ca-certificates.crt'
  if (existsSync(bundle)) cpSync(bundle, join(folder, CERTIFICATES), { dereference: true })
  copySettings(folder)
  await run('chroot', [folder, '/usr/sbin/useradd', '--create-home', '--shell', '/bin/bash', ORDINARY_USER.name])
}

/** The mirror from which apt takes the release here. */
function mirror(): string {
  const order = ['indextargets', '--format', '$(REPO_URI) $(RELEASE)', 'Created-By: Packages']
  const rows = execFileSync('apt-get', order, { encoding: 'utf8' }).split('\n')
  const found = rows.map((row) => row.split(' ')).find(([, release]) => release === RELEASE)?.[0]
  if (found === undefined) throw new Error(`apt has no mirror of Debian ${RELEASE} on this machine`)
  return found
}

/** The Node of this machine, not the one of this checkout, with its npm. */
function copyNode(folder: string): void {
  const own = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'))
  const node = own.map((path) => join(path, 'node')).find((path) => existsSync(path))
  const npm = own.map((path) => join(path, 'npm')).find((path) => existsSync(path))
  if (node === undefined || npm === undefined) throw new Error('this machine has no Node and npm on its PATH')
  cpSync(realpathSync(node), join(folder, 'usr/local/bin/node'))
  const home = dirname(dirname(realpathSync(npm)))
  cpSync(home, join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx'])
    execFileSync('ln', ['-s', `../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'usr/local/bin', name)])
}

/** The settings of npm and pip for everybody, with the certificates where the machine has them. */
function copySettings(folder: string): void {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: homedir() }).trim()
  mkdirSync(join(folder, 'usr/local/etc'), { recursive: true })
  writeFileSync(join(folder, 'usr/local/etc/npmrc'), `registry=${registry}\ncafile=${CERTIFICATES}\n`)
  if (!existsSync('/etc/pip.conf')) return
  const pip = readFileSync('/etc/pip.conf', 'utf8').replace(/^(cert\s*=).*$/m, `$1 ${CERTIFICATES}`)
  writeFileSync(join(folder, 'etc/pip.conf'), pip)
}

/** The system in `folder` with a clean clone of the last commit for each of these people, in `paymesh` in their home. */
export async function openMachine(folder: string, people: readonly Person[]): Promise<Machine> {
  for (const { name, home } of people) {
    await run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, join(folder, home, 'paymesh')])
    await run('chroot', [folder, '/bin/chown', '-R', `${name}:`, `${home}/paymesh`])
  }
  return { run: (person, line) => runInside(folder, person, line) }
}

async function runInside(folder: string, { name, home }: Person, line: string) {
  const enter = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t tmpfs shm "$0/dev/shm" && exec chroot "$0" "$@"`
  const inside = ['/usr/bin/env', '-i', ...environmentOf(name, home), '/bin/sh', '-c', `cd ${home}/paymesh && ${line}`]
  const asPerson = name === 'root' ? inside : [`--userspec=${name}:${name}`, '/', ...inside]
  const command = name === 'root' ? asPerson : ['/usr/sbin/chroot', ...asPerson]
  const apart = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  const child = await startGuarded('unshare', [...apart, '/bin/sh', '-c', enter, folder, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      process.stdout.write(text)
      output += text
    })
  const { code } = await child.exited
  return { status: code, output }
}

function environmentOf(name: string, home: string): readonly string[] {
  const network = Object.entries(process.env).filter(
    ([key, value]) => NETWORK.test(key) && !key.startsWith('npm_') && !/_DIR$/.test(key) && value !== undefined,
  )
  const adopted = network.map(([key, value = '']) => `${key}=${value.startsWith('/') ? CERTIFICATES : value}`)
  return [`HOME=${home}`, `USER=${name}`, `PATH=${PATH}`, 'LANG=C.UTF-8', ...adopted]
}
