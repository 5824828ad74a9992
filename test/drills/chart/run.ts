import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { RENDERINGS, renderedFile } from '#dev/chart.ts'
import { type Document, yamlDocuments } from '#test/deploy/deploy-files.ts'
import { type Check, describeCheck, isKept } from '../checks.ts'
import { apply, create, type Faults, remove } from './apply.ts'
import { buildPrograms, KUBERNETES, NotRun, operatorDefinitions } from './build.ts'
import { type Cluster, startCluster } from './cluster.ts'

const USAGE = `usage: npm run drill:chart -- [options]

Installs every rendering of the chart on a real API server of Kubernetes ${KUBERNETES}, first without any operator, then with the
custom resources of KEDA and prometheus-operator. The server and its store are built from Go modules, once per user. Needs
Go. The status is 0 only when every check passed; a build that takes too long is a failure that says "not run".

  --build-minutes <n>  how long the build may take (10)
  --keep               keeps data and logs and prints where they are
`
/** Kinds that a cluster has without operators. */
const isBuiltIn = ({ apiVersion }: Document): boolean => !/keda|coreos/.test(apiVersion)
const ESTABLISHED_MS = 60_000

const { values } = parseArgs({
  options: {
    'build-minutes': { type: 'string', default: '10' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const startedAt = Date.now()
const say = (line: string): void => {
  process.stdout.write(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`)
}

async function main(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'paymesh-chart-'))
  let cluster: Cluster | null = null
  try {
    say('building etcd and kube-apiserver, or taking them from the cache')
    const programs = await buildPrograms(Number(values['build-minutes']))
    say(`built or found in ${programs.minutes.toFixed(1)} minutes`)
    cluster = await startCluster(programs, dir)
    const { body } = await cluster.request('GET', '/version')
    say(`an API server of Kubernetes ${body.gitVersion} is ready`)
    const checks = await drill(cluster)
    for (const check of checks) process.stdout.write(`${describeCheck(check)}\n`)
    const failed = checks.filter((check) => !isKept(check)).length
    process.stdout.write(`\n${checks.length - failed} passed, ${failed} failed\n`)
    return failed === 0 ? 0 : 1
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    process.stdout.write(`${error instanceof NotRun ? 'NOT RUN' : 'FAILED'}: ${text}\n\n0 passed, 1 failed\n`)
    return 1
  } finally {
    await cluster?.stop()
    if (values.keep) say(`kept ${dir}`)
    else rmSync(dir, { recursive: true, force: true })
  }
}

/** The documents of a rendering in a namespace. */
function rendered(name: string, namespace: string): readonly Document[] {
  return yamlDocuments(readFileSync(renderedFile(name), 'utf8')).map((document) => ({
    ...document,
    metadata: { ...document.metadata, namespace },
  }))
}

/** A namespace in which Pod Security refuses what is not "restricted", and warns of pods that would be refused. */
async function addNamespace(cluster: Cluster, name: string): Promise<void> {
  const level = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' }
  const faults = await create(
    cluster,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: level } },
    false,
  )
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } }
  faults.concat(await create(cluster, account, false)).forEach((fault) => {
    throw new Error(fault)
  })
}

async function each(documents: readonly Document[], act: (document: Document) => Promise<Faults>): Promise<Faults> {
  const faults: string[] = []
  for (const document of documents) faults.push(...(await act(document)))
  return faults
}

/** The pods that controllers would make of a document's template. */
function podsOf(document: Document): readonly Document[] {
  const { kind, metadata, spec } = document
  const template =
    kind === 'CronJob' ? spec.jobTemplate.spec.template : ['Deployment', 'Job'].includes(kind) ? spec.template : null
  if (template === null) return []
  const named = { ...template.metadata, name: metadata.name, namespace: metadata.namespace }
  return [{ apiVersion: 'v1', kind: 'Pod', metadata: named, spec: template.spec }]
}

async function install(cluster: Cluster, rendering: string): Promise<readonly Check[]> {
  const namespace = `money-${rendering}`
  say(`installing ${rendering}`)
  await addNamespace(cluster, namespace)
  const documents = rendered(rendering, namespace)
  const pods = documents.flatMap(podsOf)
  return [
    {
      promise: `${rendering}: the server takes every document in a trial (--dry-run=server), field by field and without a warning`,
      checked: documents.length,
      faults: await each(documents, (document) => create(cluster, document, true)),
    },
    {
      promise: `${rendering}: every document is created and stored as it was sent`,
      checked: documents.length,
      faults: await each(documents, (document) => create(cluster, document, false)),
    },
    {
      promise: `${rendering}: every pod passes Pod Security "restricted"`,
      checked: pods.length,
      faults: await each(pods, (pod) => create(cluster, pod, true)),
    },
    {
      promise: `${rendering}: installing it again changes nothing that may not change`,
      checked: documents.length,
      faults: await each(documents, (document) => apply(cluster, document)),
    },
  ]
}

async function drill(cluster: Cluster): Promise<readonly Check[]> {
  const checks: Check[] = [...(await install(cluster, 'bare-cluster'))]
  await addNamespace(cluster, 'money-canaries')
  const canaries = rendered('default', 'money-canaries')
  const foreign = canaries.filter((document) => !isBuiltIn(document))
  const refused = await each(foreign, (document) => create(cluster, document, true))
  say('adding the custom resources of KEDA and prometheus-operator')
  for (const text of await operatorDefinitions()) await define(cluster, text)
  for (const rendering of Object.keys(RENDERINGS).filter((name) => name !== 'bare-cluster'))
    checks.push(...(await install(cluster, rendering)))
  checks.push({
    promise: 'a cluster without the operators refuses their documents',
    checked: foreign.length,
    faults: refused.length === foreign.length ? [] : [`only ${refused.length} of ${foreign.length} were refused`],
  })
  checks.push(await upgrade(cluster), await planted(cluster, canaries))
  return checks
}

/** From any values to any others on a running installation: no field that may not change does. */
async function upgrade(cluster: Cluster): Promise<Check> {
  const namespace = 'money-upgrade'
  await addNamespace(cluster, namespace)
  const faults: string[] = []
  let before: readonly Document[] = []
  let checked = 0
  for (const name of [...Object.keys(RENDERINGS), 'default', 'bare-cluster', 'default']) {
    say(`upgrading to ${name}`)
    // Hooks are made again at each upgrade, and removed before.
    const documents = rendered(name, namespace).filter(
      (document) => document.metadata.annotations?.['helm.sh/hook'] === undefined,
    )
    faults.push(
      ...(await each(documents, (document) => apply(cluster, document))).map((fault) => `to ${name}: ${fault}`),
    )
    const kept = new Set(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    const gone = before.filter(({ kind, metadata }) => !kept.has(`${kind} ${metadata.name}`))
    faults.push(...(await each(gone, (document) => remove(cluster, document))).map((fault) => `to ${name}: ${fault}`))
    before = documents
    checked += documents.length
  }
  return { promise: 'an installation can be upgraded from each rendering to the next and back', checked, faults }
}

/** Mistakes that the server must refuse; otherwise the checks above prove nothing. */
async function planted(cluster: Cluster, documents: readonly Document[]): Promise<Check> {
  const [deployment] = documents.filter(({ kind }) => kind === 'Deployment')
  const [scaled] = documents.filter(({ kind }) => kind === 'ScaledObject')
  const [pod] = podsOf(deployment)
  const change = (document: Document, mistake: (copy: Document) => void): Document => {
    const copy = structuredClone(document)
    mistake(copy)
    return copy
  }
  const mistakes: Readonly<Record<string, Document>> = {
    'an unknown field': change(deployment, (copy) => {
      copy.spec.template.spec.containers[0].readynessProbe = {}
    }),
    'an unknown field of a custom resource': change(scaled, (copy) => {
      copy.spec.minReplicas = 2
    }),
    'a selector that does not match its pods': change(deployment, (copy) => {
      copy.spec.selector.matchLabels = { other: 'label' }
    }),
    'a pod with privileges': change(pod, (copy) => {
      copy.spec.containers[0].securityContext.allowPrivilegeEscalation = true
    }),
  }
  const taken: string[] = []
  for (const [name, document] of Object.entries(mistakes))
    if ((await create(cluster, document, true)).length === 0) taken.push(`${name} was taken`)
  return { promise: 'planted mistakes are refused', checked: Object.keys(mistakes).length, faults: taken }
}

/** Adds a custom resource definition and waits until its kind is served. */
async function define(cluster: Cluster, text: string): Promise<void> {
  const [definition] = yamlDocuments(text)
  const { status, body } = await cluster.request(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    definition,
  )
  if (status !== 201) throw new Error(`a custom resource definition was refused: ${body.message}`)
  const { group, names, versions } = definition.spec
  const apiVersion = `${group}/${versions[0].name}`
  for (const until = Date.now() + ESTABLISHED_MS; Date.now() < until; await delay(200)) {
    const kind = { apiVersion, kind: names.kind, metadata: { name: 'x', namespace: 'default' } }
    if ((await cluster.pathOf(kind)) === null) continue
    const { status: served } = await cluster.request('GET', (await cluster.pathOf(kind)) ?? '/')
    if (served === 200) return
  }
  throw new Error(`${names.kind} is not served`)
}

if (values.help) process.stdout.write(USAGE)
else process.exit(await main())
