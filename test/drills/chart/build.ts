import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { binaryCacheDir, withCacheLock } from '#dev/embedded/binary-cache.ts'

const run = promisify(execFile)
const SOURCES = join(import.meta.dirname, 'cluster')
/** The release of Kubernetes in `cluster/go.mod`. */
export const KUBERNETES = '1.31.4'
/** Custom resource definitions as their operators publish them. */
const OPERATORS = {
  'github.com/prometheus-operator/prometheus-operator@v0.79.2': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
  'github.com/kedacore/keda/v2@v2.16.1': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
} as const

/** It took longer than it may, or Go is missing: nothing was tested. */
export class NotRun extends Error {}

/** The programs of a control plane. */
export interface Programs {
  readonly etcd: string
  readonly apiServer: string
  readonly minutes: number
}

/**
 * Builds etcd and kube-apiserver from their published modules, whose checksums are in `cluster/go.sum`; equal sources are built once
 * per user. Throws `NotRun` when that takes longer than `minutesMax`; what was compiled by then is kept for the next time.
 */
export async function buildPrograms(minutesMax: number): Promise<Programs> {
  const files = ['go.mod', 'go.sum', 'etcd/main.go', 'kube-apiserver/main.go']
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(join(SOURCES, file)))
  const folder = join(binaryCacheDir(), `cluster-${hash.digest('hex').slice(0, 16)}`)
  const programs = { etcd: join(folder, 'etcd'), apiServer: join(folder, 'kube-apiserver') }
  const startedAt = Date.now()
  await withCacheLock('cluster', async () => {
    if (existsSync(folder)) return
    const fresh = `${folder}.new`
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    await compile(fresh, minutesMax)
    renameSync(fresh, folder)
  })
  return { ...programs, minutes: (Date.now() - startedAt) / 60_000 }
}

async function compile(target: string, minutesMax: number): Promise<void> {
  const version = 'k8s.io/component-base/version'
  const facts = [`gitVersion=v${KUBERNETES}`, 'gitMajor=1', 'gitMinor=31'].map((fact) => `-X ${version}.${fact}`)
  const args = [
    'build',
    '-trimpath',
    '-ldflags',
    `-s -w ${facts.join(' ')}`,
    '-o',
    `${target}/`,
    './kube-apiserver',
    './etcd',
  ]
  try {
    await run('go', args, { cwd: SOURCES, timeout: minutesMax * 60_000, env: goEnvironment(), maxBuffer: 1 << 24 })
  } catch (error) {
    const { code, killed, stderr = '' } = error as { code?: unknown; killed?: boolean; stderr?: string }
    if (code === 'ENOENT') throw new NotRun('Go is missing: apt-get install golang-go')
    if (killed === true) throw new NotRun(`the API server was not built within ${minutesMax} minutes`)
    throw new Error(`the API server was not built: ${stderr.split('\n').slice(-15).join('\n')}`)
  }
}

// No other toolchain is downloaded, and nothing in go.mod changes.
const goEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  GOFLAGS: '-mod=readonly',
  GOTOOLCHAIN: 'local',
  CGO_ENABLED: '0',
})

/** The texts of the operators' custom resource definitions, from their modules. */
export async function operatorDefinitions(): Promise<readonly string[]> {
  const texts: string[] = []
  for (const [module, files] of Object.entries(OPERATORS)) {
    const { stdout } = await run('go', ['mod', 'download', '-json', module], { env: goEnvironment(), cwd: '/' })
    const { Dir } = JSON.parse(stdout) as { Dir: string }
    for (const file of files) texts.push(readFileSync(join(Dir, file), 'utf8'))
  }
  return texts
}
