import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the Dockerfile of a checkout gives to every container. */
export interface ImageDefaults {
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
  readonly folder: string
  readonly healthCheck: readonly string[]
}

/** Reads the last stage of `deploy/Dockerfile`. Throws when one of its lines is missing. */
export function readDockerfile(checkout: string): ImageDefaults {
  const text = readFileSync(join(checkout, 'deploy/Dockerfile'), 'utf8').replace(/\\\n\s*/g, ' ')
  const last = text.slice(text.lastIndexOf('\nFROM '))
  const find = (pattern: RegExp): string => {
    const [, found] = pattern.exec(last) ?? []
    if (found === undefined) throw new Error(`deploy/Dockerfile has no ${pattern.source}`)
    return found
  }
  const environment = [...find(/^ENV (.*)$/m).matchAll(/(\w+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value])
  return {
    environment: Object.fromEntries(environment),
    user: find(/^USER (\S+)$/m),
    folder: find(/^WORKDIR (\S+)$/m),
    healthCheck: JSON.parse(find(/^HEALTHCHECK .*CMD (\[.*\])$/m)),
  }
}
