import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MOST_OUTPUT = 64 * 1024 * 1024
/** The longest step: installing all packages and bundling on a busy machine. */
const LIMIT_MS = 40 * 60_000

/** What an image says about the containers made from it, in Docker's words. */
export interface ImageConfig {
  readonly user: string
  readonly cmd: readonly string[]
  readonly env: readonly string[]
  /** `['CMD', program, …]`, as an image's health check is stored; empty without one. */
  readonly healthcheck: readonly string[]
  readonly ports: readonly string[]
}

/** A program in a container. */
export interface Inside {
  readonly env: Readonly<Record<string, string>>
  readonly program: readonly string[]
  /** Folders of this machine and where the container has them. */
  readonly volumes?: Readonly<Record<string, string>>
}

/** `buildah` with images and containers in its own folder: it needs no daemon, but root and a kernel that allows chroot. */
export interface Buildah {
  /** Runs one command of buildah and returns what it printed. Throws with its error output when its status is not 0. */
  run(args: readonly string[]): Promise<string>
  /** The whole command that runs a program in a container, with the network of this machine. */
  command(container: string, inside: Inside): readonly string[]
  config(image: string): Promise<ImageConfig>
  /** The folder of this machine where the files of a container can be read. */
  mount(container: string): Promise<string>
  /** Bytes of all files in an image. */
  bytes(image: string): Promise<number>
}

/** Throws with what to install when buildah is missing. */
export async function openBuildah(dir: string): Promise<Buildah> {
  const [root, state] = [join(dir, 'images'), join(dir, 'state')]
  mkdirSync(root, { recursive: true })
  mkdirSync(state, { recursive: true })
  // The driver `vfs` copies files and works on every file system.
  const global = ['--storage-driver', 'vfs', '--root', root, '--runroot', state]
  const buildah = async (args: readonly string[]): Promise<string> => {
    const { stdout } = await run('buildah', [...global, ...args], { maxBuffer: MOST_OUTPUT, timeout: LIMIT_MS }).catch(
      (error: NodeJS.ErrnoException & { stderr?: string }) => {
        if (error.code === 'ENOENT') throw new Error('buildah is missing: apt-get install buildah')
        const said = (error.stderr ?? '').trim().split('\n').slice(-20).join('\n')
        throw new Error(`buildah ${args[0]} failed: ${said || error.message}`)
      },
    )
    return stdout.trim()
  }
  await buildah(['--version'])
  const mount = (container: string): Promise<string> => buildah(['mount', container])
  return {
    run: buildah,
    command: (container, { env, program, volumes = {} }) => [
      ...['buildah', ...global, 'run', '--isolation', 'chroot', '--network', 'host'],
      ...Object.entries(volumes).flatMap(([here, there]) => ['--volume', `${here}:${there}`]),
      ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...[container, '--', ...program],
    ],
    config: async (image) => {
      const { config } = JSON.parse(await buildah(['inspect', '--type', 'image', image])).Docker
      return {
        user: config.User ?? '',
        cmd: config.Cmd ?? [],
        env: config.Env ?? [],
        healthcheck: config.Healthcheck?.Test ?? [],
        ports: Object.keys(config.ExposedPorts ?? {}),
      }
    },
    mount,
    bytes: async (image) => {
      const container = await buildah(['from', '--pull-never', image])
      const { stdout } = await run('du', ['-sb', await mount(container)])
      await buildah(['rm', container])
      return Number.parseInt(stdout, 10)
    },
  }
}
