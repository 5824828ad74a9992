// Runs several checks of package.json in one process: they share the code that they read, which costs more than what they do.
// `node --import tsx scripts/check-programs.ts check:env …` writes a line of JSON for each: its name, whether it passed, its output.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const write = process.stdout.write.bind(process.stdout)

for (const step of process.argv.slice(2)) {
  const started = performance.now()
  const [file = '', ...args] = (scripts[step] ?? '').replace('node --import tsx ', '').split(' ')
  const path = resolve(file)
  let output = ''
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (text: string | Uint8Array) => {
      output += typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
      return true
    }
  }
  process.argv = [process.execPath, path, ...args]
  process.exitCode = 0
  let ok = false
  try {
    // With a query of its own, a program runs although another one has imported it.
    await import(`${pathToFileURL(path)}?check`)
    ok = Number(process.exitCode) === 0
  } catch (error) {
    output += error instanceof Error ? error.stack : String(error)
  }
  write(`${JSON.stringify({ step, ok, output, seconds: (performance.now() - started) / 1000 })}\n`)
}
process.exitCode = 0
