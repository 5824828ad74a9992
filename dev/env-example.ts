import { FIELDS, RUNNER_FIELDS } from '#shared/config/fields.ts'
import { writeGenerated } from './write-generated.ts'

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

writeGenerated(new Map([['.env.example', envExample()]]), 'gen:env')
