{{- define "stackroom.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Labels of a role: (dict "root" $ "role" "web") */}}
{{- define "stackroom.selector" -}}
app.kubernetes.io/name: stackroom
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "stackroom.labels" -}}
{{ include "stackroom.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "stackroom.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "stackroom.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (printf "%s-web" (include "stackroom.name" .)) }}
{{- else }}{{ required "serviceAccount.name is required where serviceAccount.create is false" .Values.serviceAccount.name }}{{ end -}}
{{- end }}

{{- define "stackroom.apiSecret" -}}
{{- .Values.secrets.api | default (printf "%s-api" (include "stackroom.name" .)) -}}
{{- end }}

{{- define "stackroom.sessionSecret" -}}
{{- .Values.secrets.session | default (printf "%s-session" (include "stackroom.name" .)) -}}
{{- end }}

{{/* Proxies in front of the web role and the gateway. */}}
{{- define "stackroom.hops" -}}
{{- if kindIs "invalid" .Values.trustedHops }}{{ ternary 1 0 .Values.ingress.enabled }}{{ else }}{{ .Values.trustedHops }}{{ end -}}
{{- end }}

{{/* The roles that run. */}}
{{- define "stackroom.roles" -}}
{{- $roles := list "web" -}}
{{- if .Values.gateway.enabled }}{{ $roles = append $roles "gateway" }}{{ end -}}
{{- if .Values.campaigns.enabled }}{{ $roles = append $roles "results" }}{{ end -}}
{{- join " " $roles -}}
{{- end }}

{{/* "true" for a role that sends notifications: (dict "root" $ "role" "web") */}}
{{- define "stackroom.notifies" -}}
{{- with .root.Values.notifications }}{{ if and (ne $.role "results") (or .secret .settings) }}true{{ end }}{{ end -}}
{{- end }}

{{/* Secrets whose keys are settings of a role, as a list: (dict "root" $ "role" "web") */}}
{{- define "stackroom.settingSecrets" -}}
{{- $values := .root.Values -}}
{{- $own := ternary $values.gateway.settingsSecret "" (eq .role "gateway") -}}
{{- $notifying := ternary $values.notifications.secret "" (eq (include "stackroom.notifies" .) "true") -}}
{{- join " " (compact (list $values.settingsSecret $own $notifying)) -}}
{{- end }}

{{/* Settings that the chart knows, by name: (dict "root" $ "role" "web") */}}
{{- define "stackroom.settings" -}}
{{- $root := .root -}}
{{- $name := include "stackroom.name" $root -}}
{{- $hops := include "stackroom.hops" $root | int -}}
ROLES: {{ .role }}
PORT: "8000"
# Requests still arrive until every proxy has heard that the pod ends.
STOP_DELAY: "5"
TRUSTED_HOPS: {{ ternary (add1 $hops) $hops (eq .role "results") | quote }}
{{- if $root.Values.metrics.enabled }}
METRICS_PORT: "9464"
METRICS_HOST: 0.0.0.0
{{- end }}
{{- if $root.Values.ca.configMap }}
CA_FILE: /etc/stackroom/ca/ca.crt
{{- end }}
{{- if eq .role "gateway" }}
CORS_ORIGINS: https://{{ $root.Values.hosts.site }}
{{- if $root.Values.gateway.usersSecret }}
GATEWAY_USERS_FILE: /etc/stackroom/users/users
{{- end }}
{{- else }}
RESULTS_SESSION_KEY_FILE: /secrets/session/key
{{- if $root.Values.campaigns.enabled }}
CAMPAIGN_NAMESPACES: {{ join "," $root.Values.campaigns.namespaces }}
{{- end }}
{{- end }}
{{- if eq .role "web" }}
{{- if $root.Values.gateway.enabled }}
GATEWAY_URL: http://{{ $name }}-gateway:8000
{{- end }}
{{- if $root.Values.campaigns.enabled }}
CAMPAIGN_RESULTS_URL: https://{{ $root.Values.hosts.site }}/results
CAMPAIGN_RESULTS_PROXY: http://{{ $name }}-results:8000/results
{{- else }}
CAMPAIGN_WEB_SITE_ONLY: "1"
{{- end }}
{{- end }}
{{- end }}

{{/* The Deployment of a role: (dict "root" $ "role" "web") */}}
{{- define "stackroom.deployment" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $values := index $root.Values $role -}}
{{- $hasSession := ne $role "gateway" -}}
{{- $isAccount := and (eq $role "web") $root.Values.campaigns.enabled -}}
{{- $notifications := ternary $root.Values.notifications.settings dict (eq (include "stackroom.notifies" .) "true") -}}
{{- $given := merge (deepCopy $values.settings) (deepCopy $root.Values.settings) (deepCopy $notifications) -}}
{{- $settings := merge $given (include "stackroom.settings" . | fromYaml) -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "stackroom.name" $root }}-{{ $role }}
  labels: {{- include "stackroom.labels" . | nindent 4 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels: {{- include "stackroom.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "stackroom.labels" . | nindent 8 }}
    spec:
      {{- if $isAccount }}
      serviceAccountName: {{ include "stackroom.serviceAccount" $root }}
      {{- end }}
      automountServiceAccountToken: {{ $isAccount }}
      enableServiceLinks: false
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile: { type: RuntimeDefault }
      terminationGracePeriodSeconds: 20
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "stackroom.selector" . | nindent 14 }}
      containers:
        - name: stackroom
          image: {{ include "stackroom.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          ports:
            - { name: http, containerPort: 8000 }
            {{- if $root.Values.metrics.enabled }}
            - { name: metrics, containerPort: 9464 }
            {{- end }}
          env:
            {{- range $name, $value := $settings }}
            - { name: {{ $name }}, value: {{ $value | quote }} }
            {{- end }}
            {{- if eq $role "gateway" }}
            {{- range list "API_SECRET_KEY" "API_SECRET_KEY_PREVIOUS" }}
            - name: {{ . }}
              valueFrom:
                secretKeyRef:
                  name: {{ include "stackroom.apiSecret" $root }}
                  key: {{ . }}
                  {{- if ne . "API_SECRET_KEY" }}
                  optional: true
                  {{- end }}
            {{- end }}
            {{- end }}
            {{- with $root.Values.secrets.redis }}
            - name: REDIS_URL
              valueFrom: { secretKeyRef: { name: {{ . }}, key: REDIS_URL } }
            {{- end }}
          {{- with include "stackroom.settingSecrets" . }}
          envFrom:
            {{- range splitList " " . }}
            - secretRef: { name: {{ . }} }
            {{- end }}
          {{- end }}
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 1
            failureThreshold: 60
          readinessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 30
            timeoutSeconds: 5
          resources: {{- toYaml $values.resources | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- if $hasSession }}
            - { name: session, mountPath: /secrets/session, readOnly: true }
            {{- end }}
            {{- if $root.Values.ca.configMap }}
            - { name: ca, mountPath: /etc/stackroom/ca, readOnly: true }
            {{- end }}
            {{- if $root.Values.filesSecret }}
            - { name: files, mountPath: /etc/stackroom/files, readOnly: true }
            {{- end }}
            {{- if and (eq $role "gateway") $values.usersSecret }}
            - { name: users, mountPath: /etc/stackroom/users, readOnly: true }
            {{- end }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 64Mi }
        {{- if $hasSession }}
        - name: session
          secret:
            secretName: {{ include "stackroom.sessionSecret" $root }}
            defaultMode: 0440
            items: [{ key: key, path: key }]
        {{- end }}
        {{- with $root.Values.ca.configMap }}
        - name: ca
          configMap: { name: {{ . }} }
        {{- end }}
        {{- with $root.Values.filesSecret }}
        - name: files
          secret: { secretName: {{ . }}, defaultMode: 0440 }
        {{- end }}
        {{- if and (eq $role "gateway") $values.usersSecret }}
        - name: users
          secret:
            secretName: {{ $values.usersSecret }}
            defaultMode: 0440
            items: [{ key: users, path: users }]
        {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
