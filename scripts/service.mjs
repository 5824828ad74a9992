// Runs one process of the Procfile: `node scripts/service.mjs <name>`, configured by its environment (.env.example).
import './machine/node-version.mjs'
import { bundled } from './bundle.mjs'

process.setSourceMapsEnabled(true)
const { runService } = await import(await bundled('scripts/service/main.ts'))
await runService(process.argv.slice(2))
