import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/**
 * Writes generated files, by their path in the checkout. With `--check` it writes none, reports those that differ or are missing, with the
 * command that writes them, and sets status 1.
 */
export function writeGenerated(files: ReadonlyMap<string, string>, command: string): void {
  const stale = [...files].filter(([path, text]) => stored(path) !== text)
  if (process.argv.includes('--check')) {
    for (const [path] of stale) process.stderr.write(`${path} is out of date; run \`npm run ${command}\`\n`)
    process.exitCode = stale.length === 0 ? 0 : 1
    return
  }
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text)
  }
  process.stdout.write(`${files.size} files, ${stale.length} written\n`)
}

function stored(path: string): string | null {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return null
  }
}
