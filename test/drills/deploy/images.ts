import { execFile } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What `docker compose build` of a checkout makes: the content of the container image, in a folder for each build. */
export interface Images {
  isBuilt(): boolean
  build(): Promise<void>
  /** Folder of the last build: `image/`, and the `deploy/` of its time. Throws without a build. */
  current(): string
}

/** The Dockerfile's own command on the checkout as it is; packages are those that are installed here. */
export function createImages(checkout: string, dir: string): Images {
  let builds = 0
  const folder = (): string => join(dir, `build-${builds}`)
  return {
    isBuilt: () => builds > 0,
    build: async () => {
      const target = join(dir, `build-${builds + 1}`)
      mkdirSync(target, { recursive: true })
      await promisify(execFile)('node', ['scripts/image.mjs', join(target, 'image')], { cwd: checkout })
      cpSync(join(checkout, 'deploy'), join(target, 'deploy'), {
        recursive: true,
        filter: (from) => !from.includes('backups'),
      })
      builds += 1
    },
    current: () => {
      if (builds === 0) throw new Error('no image was built')
      return folder()
    },
  }
}
