// `npm start`: bundles what changed, then runs everything (scripts/start/main.ts).
import { bundled } from './bundle.mjs'

process.setSourceMapsEnabled(true)
const entry = await bundled('scripts/start/main.ts', (line) => process.stdout.write(`  ${line}\n`))
const { runStart } = await import(entry)
await runStart(process.argv.slice(2))
