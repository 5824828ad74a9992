import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join, relative } from 'node:path'
import type { Check } from '../checks.ts'
import type { Buildah, ImageConfig } from './buildah.ts'
import type { RunInside } from './containers.ts'

/** Files of a checkout that have no place in an image: history, sources, tests, data, keys and settings of npm. */
const FOREIGN = /(^|\/)(\.git|\.env|\.data|\.npmrc)(\/|$)|\.tsx?$|\.test\./

/** What an image holds and who may change it, read from its files, and what its default command does. */
export async function checkContents(
  buildah: Buildah,
  container: string,
  { config, runInside }: { readonly config: ImageConfig; readonly runInside: RunInside },
): Promise<readonly Check[]> {
  const [user, group] = config.user.split(':').map(Number)
  const root = await buildah.mount(container)
  const files = filesBelow(join(root, 'app')).map(({ path, stat }) => ({ path: relative(root, path), stat }))
  const isWritable = ({ uid, gid, mode }: Stats): boolean =>
    uid === user || (gid === group && (mode & 0o020) > 0) || (mode & 0o002) > 0
  const help = await runInside({}, config.cmd)
  return [
    {
      promise: 'the image runs as a user and a group without rights',
      checked: 1,
      faults: [user, group].every((id) => Number.isInteger(id) && Number(id) > 0)
        ? []
        : [`the image names "${config.user}"`],
    },
    {
      promise: 'this user can change nothing below /app',
      checked: files.length,
      faults: files.filter(({ stat }) => !stat.isSymbolicLink() && isWritable(stat)).map(({ path }) => path),
    },
    {
      promise: 'the image holds no history, source, data or key',
      checked: files.length,
      faults: files.map(({ path }) => path).filter((path) => !path.includes('node_modules/') && FOREIGN.test(path)),
    },
    {
      promise: 'its default command prints the help, and it has a health check',
      checked: 1,
      faults: [
        ...(help.stdout.includes('Usage: paymesh')
          ? []
          : [`the default command ended with ${help.status}: ${help.stderr}`]),
        ...(config.healthcheck.length > 1 ? [] : ['the image has no health check']),
      ],
    },
  ]
}

/** Every file and folder below a folder, the folder itself included. */
function filesBelow(folder: string): readonly { readonly path: string; readonly stat: Stats }[] {
  const inner = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [{ path, stat: lstatSync(path) }]
  })
  return [{ path: folder, stat: lstatSync(folder) }, ...inner]
}
