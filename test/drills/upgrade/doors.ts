import { freePort } from '#dev/embedded/free-port.ts'
import { startHttpDoor } from './http-door.ts'

/** What merchants, payers and operators connect to: one address for each kind of process, in front of both releases. */
export interface Doors {
  /** The setting with the port of a process that takes requests from outside; null for every other process. */
  settingOf(process: string): string | null
  /** Base URL of a door. */
  url(process: string): string
  /** From now on requests also go there. */
  open(process: string, port: number): void
  /** From now on no request goes there. */
  close(process: string, port: number): void
  stop(): Promise<void>
}

const SETTINGS: Readonly<Record<string, string>> = {
  api: 'PAYMESH_API_PORT',
  checkout: 'PAYMESH_CHECKOUT_PORT',
  admin: 'PAYMESH_ADMIN_PORT',
}

/** Opens the three doors on free ports; they lead nowhere yet. */
export async function openDoors(): Promise<Doors> {
  const ports = new Map<string, number>()
  const targets = new Map<string, number[]>()
  const stops: (() => Promise<void>)[] = []
  for (const name of Object.keys(SETTINGS)) {
    const [port, behind] = [await freePort(0), [] as number[]]
    ports.set(name, port)
    targets.set(name, behind)
    stops.push((await startHttpDoor(port, behind)).stop)
  }
  return {
    settingOf: (process) => SETTINGS[process] ?? null,
    url: (process) => `http://127.0.0.1:${ports.get(process)}`,
    open: (process, port) => void targets.get(process)?.push(port),
    close: (process, port) => {
      const behind = targets.get(process) ?? []
      const index = behind.indexOf(port)
      if (index >= 0) behind.splice(index, 1)
    },
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}
