import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIELDS, RUNNER_FIELDS } from '#shared/config/fields.ts'

/** The text of `.env.example`: every setting with its meaning, its default and an example. */
function envExample(): string {
  const settings = Object.entries(FIELDS).map(([key, { description, example, fallback }]) => {
    const lead = fallback === null ? `# Required.` : `# Default: ${fallback === '' ? '(empty)' : fallback}`
    return `# ${description}\n${lead}\n${fallback === null ? '' : '# '}${key}=${fallback === null ? '' : example}`
  })
  const runner = Object.entries(RUNNER_FIELDS).map(
    ([key, { description, example }]) => `# ${description}\n# ${key}=${example}`,
  )
  const head = '# Generated from shared/config/fields.ts by `npm run gen:env`. `npm start` needs none of it.'
  return `${[head, ...settings, ...runner].join('\n\n')}\n`
}

function main(): void {
  const file = join(import.meta.dirname, '..', '.env.example')
  if (!process.argv.includes('--check')) {
    writeFileSync(file, envExample())
    process.stdout.write('.env.example written\n')
    return
  }
  let stored = ''
  try {
    stored = readFileSync(file, 'utf8')
  } catch {
    // A missing file counts as out of date.
  }
  if (stored === envExample()) return
  process.stderr.write('.env.example is out of date; run `npm run gen:env`\n')
  process.exitCode = 1
}

main()
