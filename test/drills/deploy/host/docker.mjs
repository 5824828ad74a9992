// docker.mjs SOCKET FOLDER ARGUMENT …: sends the command to the drill and prints what it answers.
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

const [socketPath, folder, ...args] = process.argv.slice(2)
const answer = await new Promise((resolve, reject) => {
  const pending = request({ socketPath, path: '/', method: 'POST' }, resolve)
  pending.once('error', reject)
  pending.end(JSON.stringify({ folder, args }))
})
const { status, stdout, stderr } = JSON.parse(await text(answer))
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = status
