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

{{/* What a process of the type reads, and nothing else: files/process-settings.json names its settings. */}}
{{- define "paymesh.environment" -}}
{{- $reads := get (.root.Files.Get "files/process-settings.json" | fromJson) .type -}}
{{- range .root.Values.secret.required }}
{{- if has . $reads }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.root.Values.secret.name }}, key: {{ . }} } }
{{- end }}
{{- end }}
{{- range .root.Values.secret.optional }}
{{- if has . $reads }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.root.Values.secret.name }}, key: {{ . }}, optional: true } }
{{- end }}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
{{- if has $name $reads }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
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

{{/* Not empty for true, and for auto where the cluster has the kind. Arguments: wanted, capabilities, kind. */}}
{{- define "paymesh.wanted" -}}
{{- if or (eq (toString .wanted) "true") (and (eq (toString .wanted) "auto") (.capabilities.APIVersions.Has .kind)) -}}yes{{- end -}}
{{- end -}}

{{- define "paymesh.keda" -}}
{{- include "paymesh.wanted" (dict "wanted" .Values.keda.enabled "capabilities" .Capabilities "kind" "keda.sh/v1alpha1/ScaledObject") -}}
{{- end -}}
