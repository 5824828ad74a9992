import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { GuardedChild } from '#dev/embedded/guarded-child.ts'
import type { CommandOutcome } from '../command-line.ts'
import { type ComposeFile, readComposeFile, type Service } from './compose-file.ts'
import { type Machine, runContained, type Shell, startContainer } from './containers.ts'
import { readDockerfile } from './dockerfile.ts'
import type { Images } from './images.ts'
import type { Network } from './network.ts'

const HEALTHY_MS = 180_000
/** `stop_grace_period` of every service of Paymesh; MongoDB has more. */
const STOP_MS = 20_000
const RESTART_MS = 500

/** The containers of one checkout, and the Compose commands that `deploy/` uses. */
export interface Compose {
  readonly folder: string
  /** Stops what changed or is no longer in the file, and starts everything that belongs to the profiles or is named. */
  up(options: UpOptions): Promise<void>
  down(profiles: readonly string[]): Promise<void>
  run(service: string, command: readonly string[], started?: (child: GuardedChild) => void): Promise<CommandOutcome>
  exec(service: string, command: readonly string[]): Promise<CommandOutcome>
  logs(service: string): string
  build(): Promise<void>
  /** Starts one more container of a service, from the image that was built last. */
  startBeside(service: string, slot: number): Promise<void>
  /** Ends one container of a service in order; false when its process did not end with status 0. */
  endOne(service: string, slot: number): Promise<boolean>
  /** Ids of the processes of a service that run now. */
  pids(service: string): readonly number[]
}

export interface UpOptions {
  readonly services: readonly string[]
  readonly profiles: readonly string[]
  readonly scale: Readonly<Record<string, number>>
}

interface RunningService {
  readonly service: Service
  readonly slot: number
  readonly state: string
  readonly shell: Shell
  child: GuardedChild
  isStopping: boolean
}

interface Parts {
  readonly machine: Machine
  readonly checkout: string
  readonly network: Network
  readonly images: Images
  readonly say: (line: string) => void
}

/** The Compose project in `deploy/compose` of a checkout; nothing runs yet. */
export function createCompose({ machine, checkout, network, images, say }: Parts): Compose {
  const folder = join(checkout, 'deploy/compose')
  const running: RunningService[] = []
  const read = (): ComposeFile => readComposeFile(folder)
  const logOf = (name: string): string => join(machine.dir, 'logs', `${name}.log`)
  const find = (file: ComposeFile, name: string): Service => {
    const service = file.services.get(name)
    if (service === undefined) throw new Error(`no such service: ${name}`)
    return service
  }

  const shellOf = (service: Service, slot: number): Shell => {
    const isOurs = service.image === null
    const defaults = isOurs ? readDockerfile(images.current()) : null
    const hostsFile = join(machine.dir, 'hosts')
    const hosts = network.hosts(read())
    // Containers read this very file: it is never empty for a moment.
    if (!existsSync(hostsFile) || readFileSync(hostsFile, 'utf8') !== hosts) writeFileSync(hostsFile, hosts)
    return {
      address: network.address(service.name, slot),
      hostsFile,
      imageFolder: isOurs ? join(images.current(), 'image') : null,
      workFolder: defaults?.folder ?? '/',
      user: service.user,
      isReadOnly: service.isReadOnly,
      environment: { ...defaults?.environment, ...service.environment },
      mounts: service.mounts.map((mount) => ({ ...mount, from: placeOf(machine, mount.from) })),
    }
  }

  const stateOf = (service: Service): string => {
    const parts = [service.words, service.environment, service.image ?? images.current()]
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  }

  const launch = async (service: Service, slot: number): Promise<void> => {
    const shell = shellOf(service, slot)
    const child = await startContainer(machine, shell, service.words, logOf(service.name))
    const one: RunningService = { service, slot, state: stateOf(service), shell, child, isStopping: false }
    running.push(one)
    watch(one)
  }

  /** Docker's `restart: unless-stopped`. */
  const watch = (one: RunningService): void => {
    const { service, shell } = one
    const { name, isRestarted } = service
    void one.child.exited.then(async () => {
      if (one.isStopping || !isRestarted) return
      await delay(RESTART_MS)
      if (one.isStopping) return
      one.child = await startContainer(machine, shell, service.words, logOf(name))
      if (one.isStopping) await one.child.stop(STOP_MS)
      else watch(one)
    })
  }

  const end = async (one: RunningService): Promise<void> => {
    one.isStopping = true
    await one.child.stop(one.service.image === null ? STOP_MS : 3 * STOP_MS)
    const index = running.indexOf(one)
    if (index >= 0) running.splice(index, 1)
  }

  const isHealthy = async ({ service, shell, child }: RunningService): Promise<boolean> => {
    const words = service.healthCheck ?? (service.image === null ? readDockerfile(images.current()).healthCheck : [])
    if (words.length === 0) return !child.hasExited()
    return (await runContained(machine, shell, words)).status === 0
  }

  const untilHealthy = async (name: string): Promise<void> => {
    for (const until = Date.now() + HEALTHY_MS; Date.now() < until; await delay(300)) {
      const own = running.filter(({ service }) => service.name === name)
      if (own.length > 0 && (await Promise.all(own.map(isHealthy))).every(Boolean)) return
    }
    throw new Error(`container ${name} is unhealthy:\n${lastLines(logOf(name))}`)
  }

  const complete = async (service: Service): Promise<void> => {
    const { status, stdout, stderr } = await runContained(machine, shellOf(service, 0), service.words)
    mkdirSync(join(machine.dir, 'logs'), { recursive: true })
    appendFileSync(logOf(service.name), `${stdout}${stderr}`)
    if (status !== 0)
      throw new Error(`service "${service.name}" didn't complete successfully: exit ${status}\n${stderr}`)
  }

  const start = async (service: Service, slots: number): Promise<void> => {
    if (service.name === 'caddy') return await network.openBalancer(images.current(), folder)
    const state = stateOf(service)
    for (const one of running.filter((each) => each.service.name === service.name)) {
      if (one.state !== state || one.slot >= slots) await end(one)
    }
    for (let slot = 0; slot < slots; slot += 1) {
      if (!running.some((one) => one.service.name === service.name && one.slot === slot)) await launch(service, slot)
    }
  }

  const up = async ({ services, profiles, scale }: UpOptions): Promise<void> => {
    const file = read()
    if (!images.isBuilt()) await images.build()
    for (const one of [...running]) if (!file.services.has(one.service.name)) await end(one)
    const begun = new Map<string, Promise<void>>()
    const ensure = (name: string): Promise<void> => {
      const known = begun.get(name)
      if (known !== undefined) return known
      const service = find(file, name)
      const work = (async () => {
        await Promise.all(
          Object.entries(service.dependsOn).map(async ([other, condition]) => {
            await ensure(other)
            if (condition === 'service_healthy') await untilHealthy(other)
          }),
        )
        if (!service.isRestarted) return await complete(service)
        await start(service, scale[name] ?? 1)
      })()
      begun.set(name, work)
      return work
    }
    const wanted =
      services.length > 0
        ? services
        : [...file.services.values()]
            .filter(({ profiles: own }) => own.length === 0 || own.some((profile) => profiles.includes(profile)))
            .map(({ name }) => name)
    say(`starting ${wanted.join(', ')}`)
    await Promise.all(wanted.map(ensure))
  }

  return {
    folder,
    up,
    down: async (profiles) => {
      const belongs = ({ service }: RunningService): boolean =>
        service.profiles.length === 0 || service.profiles.some((profile) => profiles.includes(profile))
      // Those that depend on others end first.
      for (const one of running.filter(belongs).filter(({ service }) => service.image === null)) await end(one)
      await Promise.all(running.filter(belongs).map(end))
      await network.closeBalancer()
    },
    run: async (name, command, started) => {
      const service = find(read(), name)
      if (!images.isBuilt()) await images.build()
      const words = command.length === 0 ? service.words : service.wordsOf(command)
      return await runContained(machine, shellOf(service, SLOT_OF_RUNS), words, started)
    },
    exec: async (name, command) => {
      const one = running.find(({ service }) => service.name === name)
      if (one === undefined || one.child.hasExited())
        return { status: 1, stdout: '', stderr: `service "${name}" is not running\n` }
      return await runContained(machine, one.shell, command)
    },
    logs: (name) => (existsSync(logOf(name)) ? readFileSync(logOf(name), 'utf8') : ''),
    build: () => images.build(),
    startBeside: async (name, slot) => {
      await launch(find(read(), name), slot)
    },
    endOne: async (name, slot) => {
      const one = running.find(({ service, slot: own }) => service.name === name && own === slot)
      if (one === undefined) throw new Error(`${name} ${slot} does not run`)
      await end(one)
      return (await one.child.exited).code === 0
    },
    pids: (name) =>
      running.filter(({ service, child }) => service.name === name && !child.hasExited()).map(({ child }) => child.pid),
  }
}

/** A container of `docker compose run` has an address beside those of the service. */
const SLOT_OF_RUNS = 7

/** A volume is a folder; a path is itself. Docker creates what is missing. */
function placeOf({ dir }: Machine, from: string): string {
  const place = from.startsWith('/') ? from : join(dir, 'volumes', from)
  if (!existsSync(place)) mkdirSync(place, { recursive: true })
  return place
}

const lastLines = (file: string): string =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-15).join('\n') : ''
