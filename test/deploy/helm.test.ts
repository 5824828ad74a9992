import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chartHash, PROCESS_SETTINGS_FILE, processSettingsText, RENDERINGS, renderedFile } from '#dev/chart.ts'
import { FIELDS } from '#shared/config/fields.ts'
import { isProcessName, isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { type Document, deployYaml, imageCommands, processesOf, yamlDocuments } from './deploy-files.ts'
import { manifestFaults, valuesFaults } from './validate.ts'

const processes = [...imageCommands()]

const text = (name: string): string => readFileSync(renderedFile(name), 'utf8')
const rendered = (name: string): readonly Document[] => yamlDocuments(text(name))
const all = rendered('default')
const ofKind = (kind: string, documents = all) => documents.filter((document) => document.kind === kind)
const named = (kind: string, name: string, documents = all): Document =>
  ofKind(kind, documents).find(({ metadata }) => metadata.name === `pay-${name}`)
const container = (name: string, documents = all): Document =>
  named('Deployment', name, documents)?.spec.template.spec.containers[0]

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: Document
}
const envNames = (env: readonly Variable[]): readonly string[] => env.map(({ name }) => name)
/** Our containers of all Deployments and Jobs; each is named after its process type. */
const containers = (documents = all): readonly Document[] =>
  documents
    .filter(({ kind }) => ['Deployment', 'Job'].includes(kind))
    .map(({ spec }) => spec.template.spec)
    .flatMap(({ containers: own, initContainers = [] }) => [...own, ...initContainers])
    .filter(({ name }) => name !== 'upload')

it('was rendered from the chart as it is now', () => {
  for (const name of Object.keys(RENDERINGS)) {
    expect(text(name).split('\n')[0], 'the chart has changed: npm run gen:chart').toBe(`# chart ${chartHash()}`)
  }
})

it('is made of manifests that Kubernetes and KEDA know, field by field', () => {
  const faults = manifestFaults()
  for (const name of Object.keys(RENDERINGS)) {
    const documents = rendered(name)
    for (const document of documents) {
      expect(faults(document), `${name}: ${document.kind} ${document.metadata.name}`).toEqual([])
      expect(document.metadata.namespace).toBe('money')
    }
    const names = documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
  }
  expect(faults({ ...all[0], specc: {} })).not.toEqual([])
})

it('refuses values that mean nothing', () => {
  const values = deployYaml('helm', 'paymesh', 'values.yaml')
  const faults = valuesFaults(deployYaml('helm', 'paymesh', 'values.schema.json'))
  expect(faults(values)).toEqual([])
  const { api } = values.processes
  expect(faults({ ...values, processes: { ...values.processes, api: { ...api, replica: 3 } } })).not.toEqual([])
  expect(faults({ ...values, settings: { MONGO_URL: 'mongodb://with-a-password' } })).not.toEqual([])
  expect(faults({ ...values, keda: { enabled: 'perhaps' } })).not.toEqual([])
  // A key for every process would undo that each process has its own secrets only.
  expect(faults({ ...values, extraEnv: [{ name: 'PAYMESH_MASTER_KEY', value: 'x' }] })).not.toEqual([])
  expect(faults({ ...values, extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.crt' }] })).toEqual([])
})

it('works without an autoscaler', () => {
  const documents = rendered('without-keda')
  for (const kind of ['ScaledObject', 'HorizontalPodAutoscaler']) expect(ofKind(kind, documents)).toEqual([])
  for (const { spec } of processesOf(documents)) expect(spec.replicas).toBeGreaterThanOrEqual(2)
})

describe.each(processes)('%s', (name, [, ...args]) => {
  const pod = () => named('Deployment', name).spec.template

  it('runs the line of the Procfile, probed, bounded and without rights', () => {
    const own = container(name)
    expect([own.command, own.args]).toEqual([['node'], args])
    expect(own.startupProbe.httpGet).toEqual({ path: '/startupz', port: 'metrics' })
    expect(own.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'metrics' })
    expect(own.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'metrics' })
    expect(own.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod().spec.securityContext.runAsNonRoot).toBe(true)
    expect(pod().spec.automountServiceAccountToken).toBe(false)
    expect(pod().spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(20)
    expect(own.resources.limits.memory).toBeDefined()
  })

  it('may lose one pod at a time, and never runs alone', () => {
    const budget = named('PodDisruptionBudget', name)
    expect(budget.spec.selector).toEqual(named('Deployment', name).spec.selector)
    const scaled = named('ScaledObject', name)
    const least = scaled?.spec.minReplicaCount ?? named('Deployment', name).spec.replicas
    expect(least).toBeGreaterThanOrEqual(2)
    expect(scaled === undefined).toBe(named('Deployment', name).spec.replicas !== undefined)
  })
})

it('has a Deployment for each line of the Procfile, and one for the back-up', () => {
  expect(named('Deployment', 'backup')).toBeDefined()
  expect(
    processesOf(all)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  ).toEqual(processes.map(([name]) => `pay-${name}`).toSorted())
})

// Guarantee: no secret is written into a manifest.
it('gives secrets by reference, those that may be missing as optional', () => {
  for (const { env } of containers()) {
    const secret = (env as readonly Variable[]).filter(({ valueFrom }) => valueFrom !== undefined)
    const names = secret.map(({ name }) => name)
    expect(names.toSorted()).toEqual(SECRET_SETTINGS.filter((name) => envNames(env).includes(name)).toSorted())
    const optional = secret.filter(({ valueFrom }) => valueFrom?.['secretKeyRef'].optional === true)
    for (const { name } of optional)
      expect(['PAYMESH_MASTER_KEYS_OLD', 'PAYMESH_SMTP_URL', 'OTEL_EXPORTER_OTLP_HEADERS']).toContain(name)
  }
  expect(ofKind('Secret')).toEqual([])
})

it('reads which settings a process is given from the declaration that the processes are checked by', () => {
  expect(readFileSync(PROCESS_SETTINGS_FILE, 'utf8'), 'npm run gen:chart').toBe(processSettingsText())
})

// Guarantee: each container has its own secrets and no other, in every form in which the chart is installed.
describe.each(Object.keys(RENDERINGS))('the rendering %s', (rendering) => {
  it.each(containers(rendered(rendering)).map((own) => [own.name as string, own] as const))(
    'gives %s the settings that it reads, each of its secrets, and nothing else',
    (name, { env, envFrom }) => {
      if (!isProcessName(name)) throw new Error(`no settings are declared for ${name}`)
      const given = envNames(env)
      const extra = rendering === 'bare-cluster' ? ['NODE_EXTRA_CA_CERTS'] : []
      expect(given.filter((key) => !isSettingName(key) || !readsSetting(name, key))).toEqual(extra)
      expect(SECRET_SETTINGS.filter((key) => readsSetting(name, key) && !given.includes(key))).toEqual([])
      expect(envFrom).toBeUndefined()
      // Examples of keys are refused in production, as they should be.
      const random = given
        .filter((key) => /_KEY/.test(key))
        .map((key) => [key, randomBytes(32).toString('base64')] as const)
      const filled = (env as readonly Variable[])
        .filter(({ name: key }) => isSettingName(key))
        .map(({ name: key, value }) => [key, value ?? FIELDS[key as keyof typeof FIELDS].example] as const)
      expect(parseConfig(Object.fromEntries([...filled, ...random]), name).env).toBe('production')
    },
  )
})

it('scales workers by the age of what is due, and never to zero', () => {
  const queries = ofKind('ScaledObject').flatMap(({ spec }) => {
    expect(spec.minReplicaCount).toBeGreaterThanOrEqual(2)
    expect(spec.maxReplicaCount).toBeGreaterThan(spec.minReplicaCount)
    expect(spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilizationWindowSeconds).toBe(300)
    return spec.triggers.flatMap((trigger: Document) => trigger.metadata.query ?? [])
  })
  expect(queries.toSorted()).toEqual(
    ['invoice-transitions', 'mail', 'webhooks'].map(
      (queue) => `max(paymesh_queue_oldest_due_age_seconds{queue="${queue}"})`,
    ),
  )
  for (const name of ['scanner', 'rates']) expect(named('ScaledObject', name)).toBeUndefined()
})

it('gives networks their own scanners when asked to', () => {
  const documents = rendered('scanner-groups')
  expect(named('Deployment', 'scanner', documents)).toBeUndefined()
  const chains = (group: string) =>
    container(`scanner-${group}`, documents).env.find(({ name }: { name: string }) => name === 'CHAINS').value
  expect([chains('bitcoin'), chains('evm')]).toEqual(['bitcoin,litecoin', 'ethereum'])
  expect(container('scanner-evm', documents).args).toEqual(container('scanner').args)
})

// Guarantee: a process that is taken over reaches what its task needs, and nothing of our own networks.
it('lets nothing in or out but what each process needs', () => {
  const deny = named('NetworkPolicy', 'deny').spec
  expect(deny).toMatchObject({ policyTypes: ['Ingress', 'Egress'] })
  expect([deny.ingress, deny.egress]).toEqual([undefined, undefined])
  const web = named('NetworkPolicy', 'egress-web').spec
  expect(web.podSelector.matchLabels['paymesh/egress']).toBe('web')
  const [{ ipBlock }] = web.egress[0].to
  for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8']) {
    expect(ipBlock.except).toContain(range)
  }
  const egressOf = (name: string) => named('Deployment', name).spec.template.metadata.labels['paymesh/egress']
  expect(Object.fromEntries(processes.map(([name]) => [name, egressOf(name)]))).toEqual({
    mailer: 'mail',
    webhooks: 'web',
    maintenance: 'none',
    invoices: 'none',
    rates: 'web',
    scanner: 'nodes',
    checkout: 'nodes',
    admin: 'nodes',
    api: 'none',
  })
  for (const name of ['api', 'checkout', 'admin']) {
    expect(named('NetworkPolicy', `to-${name}`).spec.ingress[0].ports).toEqual([
      { port: container(name).ports.find((port: Document) => port.name === 'http').containerPort },
    ])
  }
})

describe('the back-up', () => {
  const podOf = (rendering: string) => named('Deployment', 'backup', rendered(rendering)).spec.template

  it('runs all the time, alone, on a volume that outlives the release, with the key from its own Secret', () => {
    expect(named('Deployment', 'backup').spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
    const [container] = podOf('default').spec.containers
    expect(container.args.slice(0, 4)).toEqual(['scripts/paymesh.mjs', 'backup', 'run', '/backups'])
    expect(container.args.join(' ')).toContain('--every 24')
    expect(container.args.join(' ')).not.toContain('--copied')
    expect(named('PersistentVolumeClaim', 'backup').metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
    expect(envNames(container.env)).not.toContain('PAYMESH_KEY_PEPPER')
    expect(podOf('default').spec.volumes.find(({ name }: Document) => name === 'key').secret.secretName).toBe(
      'paymesh-backup',
    )
    expect(podOf('default').metadata.labels['paymesh/egress']).toBe('none')
  })

  // Guarantee: what is uploaded was verified before, because only then it has its name; the uploading container has no secret of the installation.
  it('uploads what is verified, changes within seconds, without our secrets', () => {
    const [backup, ...uploading] = podOf('backup-s3').spec.containers
    expect(uploading.map(({ name }: Document) => name)).toEqual(['upload'])
    const copies = uploading[0].args[0].match(/rclone (copy|delete).*/g) ?? []
    expect(copies).toHaveLength(4)
    for (const line of copies) expect(line).toMatch(/--include '\/paymesh-\*\.(backup|changes)' /)
    expect(envNames(uploading[0].env).filter(isSettingName)).toEqual([])
    expect(uploading[0].volumeMounts.find(({ name }: Document) => name === 'backups').readOnly).toBe(true)
    expect(uploading[0].volumeMounts.map(({ name }: Document) => name)).not.toContain('key')
    expect(backup.args.slice(-2)).toEqual(['--copied', '/copied'])
    const mount = ({ volumeMounts }: Document) => volumeMounts.find(({ name }: Document) => name === 'copied')
    expect([mount(backup).mountPath, mount(uploading[0])]).toEqual([
      '/copied',
      { name: 'copied', mountPath: '/copied' },
    ])
    expect(podOf('backup-s3').metadata.labels['paymesh/egress']).toBe('web')
  })
})
