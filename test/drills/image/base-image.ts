import { execFile, execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Buildah } from './buildah.ts'

const run = promisify(execFile)
const MOST_OUTPUT = 64 * 1024 * 1024
/** Libraries that Node's program is linked with, and the certificates that every HTTPS request needs. */
const PACKAGES = ['ca-certificates', 'libstdc++6']

/**
 * Makes the base image that `deploy/Dockerfile` starts from, under the given name: Debian's smallest system, with the Node and the npm that
 * run this program. It takes the place of the official image where no image can be downloaded; both have Node below `/usr/local`.
 */
export async function makeBaseImage(buildah: Buildah, dir: string, name: string): Promise<void> {
  const system = join(dir, 'system')
  await run('debootstrap', ['--variant=minbase', `--include=${PACKAGES.join(',')}`, 'bookworm', system], {
    maxBuffer: MOST_OUTPUT,
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Error('debootstrap is missing: apt-get install debootstrap')
    throw new Error(`debootstrap failed: ${error.message.split('\n').slice(-5).join('\n')}`)
  })
  const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm')
  const container = await buildah.run(['from', 'scratch'])
  await buildah.run(['copy', '--quiet', container, `${system}/`, '/'])
  await buildah.run(['copy', '--quiet', container, realpathSync(process.execPath), '/usr/local/bin/node'])
  await buildah.run(['copy', '--quiet', container, npm, '/usr/local/lib/node_modules/npm'])
  await buildah.run([
    ...['run', '--isolation', 'chroot', container, '--'],
    ...['ln', '-sf', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm'],
  ])
  await buildah.run(['config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container])
  await buildah.run(['commit', '--quiet', '--format', 'docker', '--rm', container, name])
}
