// mongosh.mjs ADDRESS [URL] [-u USER -p PASSWORD] [--file FILE | --eval CODE | --create-user USER PASSWORD]: the functions of mongosh
// that deploy/ uses, over MongoDB's driver. Like in mongosh, scripts call them without `await`: a second thread talks to the server.
import { readFileSync } from 'node:fs'
import { runInThisContext } from 'node:vm'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'

const ANSWER_MS = 60_000
const [address, ...given] = process.argv.slice(2)
const optionOf = (name) => (given.includes(name) ? given[given.indexOf(name) + 1] : null)
const url = given.find((word) => word.startsWith('mongodb://')) ?? `mongodb://${address}:27017/?directConnection=true`
const user = optionOf('-u')

const signal = new Int32Array(new SharedArrayBuffer(4))
const { port1, port2 } = new MessageChannel()
const worker = new Worker(new URL('./mongosh-connection.mjs', import.meta.url), {
  workerData: { url, auth: user === null ? null : { username: user, password: optionOf('-p') }, signal, port: port2 },
  transferList: [port2],
})

function command(database, what) {
  Atomics.store(signal, 0, 0)
  port1.postMessage({ database, what })
  if (Atomics.wait(signal, 0, 0, ANSWER_MS) === 'timed-out') throw new Error('the server did not answer in 60 s')
  const { result, error } = receiveMessageOnPort(port1).message
  if (error !== null) throw Object.assign(new Error(error.message), { codeName: error.codeName })
  return result
}

const database = (name) => ({
  adminCommand: (what) => command('admin', typeof what === 'string' ? { [what]: 1 } : what),
  hello: () => command('admin', { hello: 1 }),
  dropDatabase: () => command(name, { dropDatabase: 1 }),
  getSiblingDB: database,
})
const rs = {
  status: () => command('admin', { replSetGetStatus: 1 }),
  initiate: (config) => command('admin', { replSetInitiate: config }),
  conf: () => command('admin', { replSetGetConfig: 1 }).config,
  add: (host) => {
    const config = rs.conf()
    const _id = Math.max(...config.members.map((member) => member._id)) + 1
    const members = [...config.members, { _id, host }]
    // One member after the other: a set permits the next change when the last one is committed by a majority.
    for (let left = 60; ; left -= 1) {
      try {
        return command('admin', { replSetReconfig: { ...config, version: config.version + 1, members } })
      } catch (error) {
        if (left === 0) throw error
        sleep(1000)
      }
    }
  },
}
const sleep = (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const print = (...words) => void process.stdout.write(`${words.join(' ')}\n`)
Object.assign(globalThis, { db: database('admin'), rs, sleep, print })

try {
  const [file, code] = [optionOf('--file'), optionOf('--eval')]
  if (given.includes('--create-user')) {
    const [name, password] = given.slice(given.indexOf('--create-user') + 1)
    command('admin', { createUser: name, pwd: password, roles: ['root'] })
  }
  if (file !== null) runInThisContext(readFileSync(file, 'utf8'), file)
  if (code !== null) print(JSON.stringify(runInThisContext(code)))
} catch (error) {
  process.stderr.write(`${error.codeName ?? 'Error'}: ${error.message}\n`)
  process.exitCode = 1
} finally {
  await worker.terminate()
}
