#!/usr/bin/env node
// `paymesh …` and `npm run cli -- …`: the command line of an installation (scripts/cli/main.ts).
import './machine/node-version.mjs'
import { bundled } from './bundle.mjs'

process.setSourceMapsEnabled(true)
const { runCli } = await import(await bundled('scripts/cli/main.ts'))
process.exit(await runCli(process.argv.slice(2)))
