import { startStores } from './stores.ts'

// Represents a start that is killed: prints the URLs and stays.
const [dataDir = '.'] = process.argv.slice(2)
const { mongoUrl, redisUrl } = await startStores({ dataDir, report: () => {}, mongoUrl: null, redisUrl: null })
process.stdout.write(`${JSON.stringify({ mongoUrl, redisUrl })}\n`)
setInterval(() => {}, 60_000)
