import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from './private-file.ts'

/** Data of a running development installation for people and tools; null where the service does not exist yet. */
export interface DevInfo {
  /** With `/api/v1`. */
  readonly apiUrl: string
  readonly checkoutUrl: string
  readonly adminUrl: string | null
  readonly mailUrl: string | null
  readonly testKey: string
  readonly liveKey: string
  readonly workspaceId: string
  readonly ownerEmail: string | null
  /** Null once the owner has set another one. */
  readonly ownerPassword: string | null
  readonly metricsUrl: string
  readonly mongoUrl: string
  /** Null when everything runs in one process, which needs no Redis. */
  readonly redisUrl: string | null
  /** Test-mode nodes by network. */
  readonly rpcUrls: Readonly<Record<string, string>>
  /** Process ids by process name; null when everything runs in one process. */
  readonly pids: Readonly<Record<string, number>> | null
}

const fileOf = (dataDir: string) => join(dataDir, 'dev.json')

/** Replaces `<dataDir>/dev.json` in one step. */
export function writeDevInfo(dataDir: string, dev: DevInfo): void {
  writePrivate(fileOf(dataDir), dev)
}

/** Removes the file, so that a tool waiting for the next start does not read data of the last one. */
export function removeDevInfo(dataDir: string): void {
  rmSync(fileOf(dataDir), { force: true })
}

/** The running installation of a data folder, or null; a killed one leaves its file until the next start. */
export function readDevInfo(dataDir: string): DevInfo | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8'))
  } catch {
    return null
  }
}
