import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { interpolate } from '#test/deploy/compose-values.ts'
import type { Document } from '#test/deploy/deploy-files.ts'

/** A service of a Compose file with its values filled in. */
export interface Service {
  readonly name: string
  /** As in the file; null where the image is one of Paymesh. */
  readonly image: string | null
  /** Entrypoint and command, word by word; empty = those of the image. */
  readonly words: readonly string[]
  /** As `words`, with another command. */
  wordsOf(command: readonly string[]): readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly profiles: readonly string[]
  /** Service → condition. */
  readonly dependsOn: Readonly<Record<string, string>>
  /** Absolute path or name of a volume, and where the container sees it. */
  readonly mounts: readonly { readonly from: string; readonly to: string; readonly isReadOnly: boolean }[]
  /** Names under which other containers reach it. */
  readonly hostNames: readonly string[]
  readonly user: string
  readonly isReadOnly: boolean
  readonly isRestarted: boolean
  /** Its own health check; null = that of the image, `[]` = none. */
  readonly healthCheck: readonly string[] | null
}

/** A Compose file as `docker compose` reads it in its folder. */
export interface ComposeFile {
  readonly path: string
  readonly services: ReadonlyMap<string, Service>
}

/** `NAME=value` lines; a file that is not there has none. */
export function readValues(file: string): Record<string, string> {
  if (!existsSync(file)) return {}
  const lines = readFileSync(file, 'utf8').split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const match = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line)
      return match === null ? [] : [[match[1] ?? '', match[2] ?? '']]
    }),
  )
}

/** Reads the file that COMPOSE_FILE in `.env` names. Throws for a value that the file requires and `.env` lacks. */
export function readComposeFile(folder: string): ComposeFile {
  const values = readValues(join(folder, '.env'))
  const path = join(folder, values['COMPOSE_FILE'] ?? 'compose.yaml')
  const document: Document = parse(readFileSync(path, 'utf8'), { merge: true })
  const secrets: Record<string, { file: string }> = document.secrets ?? {}
  const services = Object.entries<Document>(document.services).map(([name, raw]) => {
    return [name, readService(name, raw, { folder, values, secrets })] as const
  })
  return { path, services: new Map(services) }
}

interface Surroundings {
  readonly folder: string
  readonly values: Record<string, string>
  readonly secrets: Record<string, { file: string }>
}

function readService(name: string, raw: Document, { folder, values, secrets }: Surroundings): Service {
  const fill = (text: unknown): string =>
    String(text)
      .split('$$')
      .map((part) => interpolate(part, values))
      .join('$')
  const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(fill) : [])
  const files: { path: string }[] = raw.env_file ?? []
  const [entrypoint, command] = [list(raw.entrypoint), list(raw.command)]
  const volumes = list(raw.volumes).map((line) => {
    const [from = '', to = '', mode] = line.split(':')
    return { from: /^[./]/.test(from) ? resolve(folder, from) : from, to, isReadOnly: mode === 'ro' }
  })
  const secretFiles = list(raw.secrets).map((secret) => ({
    from: resolve(folder, secrets[secret]?.file ?? ''),
    to: `/run/secrets/${secret}`,
    isReadOnly: true,
  }))
  const test: unknown = raw.healthcheck?.test
  return {
    name,
    image: raw.build === undefined ? fill(raw.image) : null,
    words: [...entrypoint, ...command],
    wordsOf: (other) => [...entrypoint, ...other],
    environment: {
      ...Object.assign({}, ...files.map((file) => readValues(resolve(folder, file.path)))),
      ...Object.fromEntries(Object.entries(raw.environment ?? {}).map(([key, text]) => [key, fill(text)])),
    },
    profiles: list(raw.profiles),
    dependsOn: Array.isArray(raw.depends_on)
      ? Object.fromEntries(list(raw.depends_on).map((other) => [other, 'service_started']))
      : Object.fromEntries(
          Object.entries<Document>(raw.depends_on ?? {}).map(([other, { condition }]) => [other, condition]),
        ),
    mounts: [...volumes, ...secretFiles],
    hostNames: [name, ...(Array.isArray(raw.networks) ? [] : list(raw.networks?.edge?.aliases))],
    user: raw.user === undefined ? '0:0' : fill(raw.user),
    isReadOnly: raw.read_only === true,
    isRestarted: raw.restart === 'unless-stopped',
    healthCheck: raw.healthcheck?.disable === true ? [] : healthCommand(test, fill),
  }
}

function healthCommand(test: unknown, fill: (text: unknown) => string): readonly string[] | null {
  if (!Array.isArray(test)) return null
  const [kind, ...words] = test.map(fill)
  return kind === 'CMD-SHELL' ? ['sh', '-c', ...words] : words
}
