{{- define "paymesh.labels" -}}
app.kubernetes.io/name: paymesh
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "paymesh.chartLabels" -}}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "paymesh.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* Every process to run: those of the values, the scanner split into its groups where there are some. */}}
{{- define "paymesh.processes" -}}
{{- $all := dict -}}
{{- range $type, $process := .Values.processes -}}
{{- if and (eq $type "scanner") $.Values.scannerGroups -}}
{{- range $group, $chains := $.Values.scannerGroups -}}
{{- $_ := set $all (printf "scanner-%s" $group) (merge (dict "type" "scanner" "chains" (join "," $chains)) $process) -}}
{{- end -}}
{{- else -}}
{{- $_ := set $all $type (merge (dict "type" $type) $process) -}}
{{- end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{- define "paymesh.environment" -}}
{{- range .root.Values.secret.required }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.root.Values.secret.name }}, key: {{ . }} } }
{{- end }}
{{- range .root.Values.secret.optional }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.root.Values.secret.name }}, key: {{ . }}, optional: true } }
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .chains }}
- name: CHAINS
  value: {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "paymesh.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "paymesh.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}
