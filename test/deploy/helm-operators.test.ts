import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { copiedFiles, renderedFile } from '#dev/chart.ts'
import { type Document, deployYaml, processesOf, yamlDocuments } from './deploy-files.ts'

const rendered = (name: string): readonly Document[] => yamlDocuments(readFileSync(renderedFile(name), 'utf8'))
const bare = rendered('bare-cluster')
const full = rendered('default')
const ofKind = (kind: string, documents: readonly Document[]) => documents.filter((document) => document.kind === kind)
const values = deployYaml('helm', 'paymesh', 'values.yaml')
const scaled = Object.entries<Document>(values.processes).filter(([, { scale }]) => scale !== undefined)

// Guarantee: the default values install on a cluster that has nothing but Kubernetes.
describe('a bare cluster', () => {
  it('is given no custom resource', () => {
    const groups = bare.map(({ apiVersion }) => String(apiVersion).split('/')[0] ?? '')
    const builtIn = ['v1', 'apps', 'batch', 'autoscaling', 'policy', 'networking.k8s.io']
    expect(groups.filter((group) => !builtIn.includes(group))).toEqual([])
  })

  it('scales by CPU what KEDA would scale, between the same bounds', () => {
    const autoscalers = ofKind('HorizontalPodAutoscaler', bare)
    expect(autoscalers.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      scaled.map(([name]) => `pay-${name}`).toSorted(),
    )
    for (const { metadata, spec } of autoscalers) {
      const { min, max, by, at } = values.processes[metadata.name.replace('pay-', '')].scale
      expect([spec.minReplicas, spec.maxReplicas]).toEqual([min, max])
      expect(spec.metrics[0].resource.target.averageUtilization).toBe(by === 'cpu' ? at : values.autoscaling.cpuPercent)
      const deployment = ofKind('Deployment', bare).find((one) => one.metadata.name === spec.scaleTargetRef.name)
      // The autoscaler alone decides; a number here would undo its decision at each upgrade.
      expect(deployment?.spec.replicas).toBeUndefined()
      expect(deployment?.spec.template.spec.containers[0].resources.requests.cpu).toBeDefined()
    }
    expect(ofKind('HorizontalPodAutoscaler', full)).toEqual([])
  })

  it('gives every process and migrate the further variables and files', () => {
    const pods = [...ofKind('Deployment', bare), ...ofKind('Job', bare)].map(({ spec }) => spec.template.spec)
    expect(pods.length).toBeGreaterThan(9)
    for (const { containers, volumes } of pods) {
      expect(containers[0].env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.crt' })
      expect(containers[0].volumeMounts).toContainEqual({ name: 'ca', mountPath: '/ca', readOnly: true })
      expect(volumes).toContainEqual({ name: 'ca', configMap: { name: 'internal-ca' } })
    }
  })
})

describe('monitoring', () => {
  it('has copies of the alerts and dashboards as they are now', () => {
    for (const [source, copy] of copiedFiles())
      expect(readFileSync(copy, 'utf8') === readFileSync(source, 'utf8'), `${copy}: npm run gen:chart`).toBe(true)
  })

  it('scrapes the metrics of every process under the name that alerts expect', () => {
    const [monitor] = ofKind('PodMonitor', full)
    const { jobLabel, selector, podMetricsEndpoints } = monitor?.spec ?? {}
    for (const { spec } of processesOf(full)) {
      const { metadata, spec: pod } = spec.template
      expect(metadata.labels).toMatchObject(selector.matchLabels)
      expect(metadata.labels[jobLabel]).toBe('paymesh')
      expect(pod.containers[0].ports).toContainEqual({ name: podMetricsEndpoints[0].port, containerPort: 4110 })
    }
    const alerts = JSON.stringify(deployYaml('prometheus', 'alerts.yml'))
    for (const [, job] of alerts.matchAll(/job=\\"([^"\\]+)/g)) expect(job).toBe('paymesh')
  })

  it('installs every alert and every dashboard unchanged', () => {
    const files = ['alerts.yml', 'processes.generated.yml']
    expect(ofKind('PrometheusRule', full).map(({ spec }) => spec)).toEqual(
      files.map((file) => deployYaml('prometheus', file)),
    )
    const maps = ofKind('ConfigMap', full)
    const dashboards = copiedFiles().filter(([source]) => source.endsWith('.json'))
    expect(maps).toHaveLength(dashboards.length)
    for (const [source] of dashboards) {
      const name = source.split('/').at(-1) ?? ''
      const map = maps.find(({ data }) => data[name] !== undefined)
      expect(map?.metadata.labels['grafana_dashboard']).toBe('1')
      expect(JSON.parse(map?.data[name])).toEqual(JSON.parse(readFileSync(source, 'utf8')))
    }
  })
})
