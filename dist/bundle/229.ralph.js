const a=229,p=[229,610],Y={1229:((K,s,D)=>{D.d(s,{Lx:()=>M,US:()=>I,VY:()=>d,b$:()=>o});const P=new Set(`
  PATH HOME USER LOGNAME SHELL SHLVL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR HOSTNAME DISPLAY
  TMPDIR TEMP TMP DEBIAN_FRONTEND
  XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_BIN_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
  HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO
  NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME COREPACK_HOME YARN_CACHE_FOLDER BUN_INSTALL DENO_DIR DENO_INSTALL
  NPM_CONFIG_CACHE NPM_CONFIG_REGISTRY NPM_CONFIG_PREFIX PLAYWRIGHT_BROWSERS_PATH CYPRESS_CACHE_FOLDER CHROME_BIN
  JAVA_HOME GRADLE_HOME GRADLE_USER_HOME M2_HOME MAVEN_HOME KOTLIN_HOME SDKMAN_DIR
  ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK ANDROID_NDK_HOME ANDROID_NDK_ROOT
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTOOLCHAIN GOPROXY GOFLAGS CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  PYENV_ROOT VIRTUAL_ENV CONDA CONDA_PREFIX PIP_CACHE_DIR PIPX_HOME PIPX_BIN_DIR POETRY_HOME UV_CACHE_DIR
  PYTHONLOCATION PYTHON_ROOT_DIR PYTHON2_ROOT_DIR PYTHON3_ROOT_DIR PKG_CONFIG_PATH LD_LIBRARY_PATH
  RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH COMPOSER_HOME DOTNET_ROOT DOTNET_CLI_HOME NUGET_PACKAGES
  VCPKG_ROOT VCPKG_INSTALLATION_ROOT SWIFT_PATH GHCUP_INSTALL_BASE_PREFIX ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
  CI IMAGEOS RUNNER_OS RUNNER_ARCH RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY RUNNER_TRACKING_ID
  GITHUB_ACTIONS GITHUB_WORKSPACE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER
  `.trim().split(/\s+/)),C=["LC_","JAVA_HOME_","GOROOT_1_"],G=new Set(`
  GITHUB_TOKEN GH_TOKEN GITHUB_ENTERPRISE_TOKEN GH_ENTERPRISE_TOKEN GITHUB_PAT GITHUB_API_TOKEN
  GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_EVENT_PATH
  SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GIT_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_HTTP_EXTRAHEADER
  `.trim().split(/\s+/)),r=["INPUT_","ACTIONS_","STATE_","GITHUB_ARTIFACTS","GIT_CONFIG"];function I(_){const O=_.toUpperCase();return G.has(O)||r.some(E=>O.startsWith(E))}function o(_,O){return n(_,[...O.vendor,...O.extra],O.set,I)}function M(_,O){return n(_,O.extra,{},E=>I(E)||O.isModelKey(E))}function n(_,O,E,A){const N=i(_),e=T=>N.some(R=>T.includes(R)),t=new Map,H=new Set;t.set("SHLVL","1");const S=(T,R,F)=>{A(T)||R!==void 0&&e(R)?F&&H.add(T):R!==void 0&&t.set(T,R)};for(const T of Object.keys(_))L(T)&&S(T,_[T],!1);for(const T of O)S(T,Object.hasOwn(_,T)?_[T]:void 0,!0);for(const[T,R]of Object.entries(E))T.startsWith("GIT_")&&!e(R)?t.set(T,R):S(T,R,!0);const u=[...t].sort(([T],[R])=>T<R?-1:1);return{env:Object.fromEntries(u),refused:[...H].sort()}}function L(_){const O=_.toUpperCase();return P.has(O)||C.some(E=>O.startsWith(E))}function i(_){return Object.entries(_).flatMap(([O,E])=>E!==void 0&&E.length>=16&&I(O)&&/TOKEN/i.test(O)?[E]:[])}const c=/TOKEN|SECRET|CREDENTIAL|API_?KEY|(?:^|_)KEYS?(?:_|$)|(?:^|_)PASS(?:_|$)|PASSW|PASSPHRASE|WEBHOOK|(?:^|_)(?:DSN|COOKIES?|AUTH|BEARER|JWT|PAT)(?:_|$)|HEADERS?(?:_|$)|CONN(?:ECTION)?_STR/i,U=8;function d(_){return Object.entries(_).flatMap(([O,E=""])=>{const A=c.test(O)?[E,...f(O,E)]:[],[,N,e]=/^[a-z][a-z0-9+.-]*:\/\/([^\s:@/]*):([^\s@/]+)@/i.exec(E)??[];return e!==void 0&&A.push(E),e!==void 0&&e!==N&&A.push(e,B(e)),[...new Set(A)].filter(t=>t.length>=U)})}function f(_,O){return/HEADER/i.test(_)?O.split(`
`).flatMap(E=>{const A=E.slice(E.indexOf(":")+1).trim();return[A,A.replace(/^(?:Bearer|Basic|token)\s+/i,"")]}):[]}function B(_){try{return decodeURIComponent(_)}catch{return _}}})};export{a as id,p as ids,Y as modules};
