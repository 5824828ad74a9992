import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { binaryCacheDir, type Report } from '#dev/embedded/binary-cache.ts'
import { ROOT } from '#scripts/bundle.mjs'

const run = promisify(execFile)
const TIMEOUT_MS = 30 * 60_000

/**
 * A folder with the files of the shop `name` and this commit's client and plug-in, packed and unpacked as a release packs them. It is below
 * the packages of the lock file, where Node finds them; those are installed once and stay in the cache for as long as the lock file is the same.
 */
export async function installShop(name: string, dir: string, report: Report): Promise<string> {
  const source = join(ROOT, 'test/drills/shops', name)
  const lock = await readFile(join(source, 'package-lock.json'))
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16)
  const packages = join(binaryCacheDir(), '..', 'shops', `${name}-${hash}`)
  if (!existsSync(packages)) {
    report(`installing the packages of ${name}, once for this lock file`)
    await mkdir(join(packages, '..'), { recursive: true })
    const work = await mkdtemp(`${packages}-`)
    for (const file of ['package.json', 'package-lock.json']) await cp(join(source, file), join(work, file))
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: work, timeout: TIMEOUT_MS })
    // Another run may have been quicker.
    await rename(work, packages).catch(() => rm(work, { recursive: true }))
  }
  const folder = await mkdtemp(join(packages, 'shop-'))
  await cp(source, folder, { recursive: true, filter: (path) => !path.endsWith('package-lock.json') })
  await unpack('clients/typescript', join(folder, 'node_modules/@paymesh/client'), dir)
  await unpack(`plugins/${name}`, join(folder, `node_modules/@paymesh/${name}-plugin`), dir)
  return folder
}

/** What the compiler finds in the sources of a plug-in, with the types of the shop that is installed in this folder; empty when nothing. */
export async function checkTypes(name: string, folder: string): Promise<readonly string[]> {
  const at = join(folder, 'types')
  await cp(join(ROOT, 'plugins', name), at, { recursive: true, filter: (path) => !path.includes('.medusa') })
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    ...{ allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true },
    ...{ strict: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true },
  }
  await writeFile(join(at, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src/**/*.js'] }))
  return await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', at]).then(
    () => [],
    (error) => String(error.stdout).trim().split('\n'),
  )
}

/** Puts what `npm pack` packs of a package into a folder. */
async function unpack(source: string, target: string, dir: string): Promise<void> {
  const at = await mkdtemp(join(dir, 'pack-'))
  const args = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', at]
  const { stdout } = await run('npm', args, { cwd: join(ROOT, source) })
  await mkdir(target, { recursive: true })
  await run('tar', ['-xzf', join(at, stdout.trim().split('\n').at(-1) ?? ''), '--strip-components=1', '-C', target])
}
