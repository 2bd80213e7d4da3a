// Java and Kotlin: Maven or Gradle, by the project's own wrapper where there is one.
import { type Ecosystem, firstOf, gatesFrom } from './project.ts'

const GRADLE = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts']

export const maven: Ecosystem = {
  name: 'Maven',
  marks: ['pom.xml'],
  propose(folder) {
    const pom = folder.text('pom.xml')
    const run = `${folder.has('mvnw') ? './mvnw' : 'mvn'} --batch-mode --quiet`
    const check = ['spotless', 'checkstyle'].find(
      (name) =>
        pom.includes(`<artifactId>${name}-maven-plugin<`) ||
        pom.includes(`<artifactId>maven-${name}-plugin<`),
    )
    return {
      language: 'Java',
      manager: 'maven',
      prepare: null,
      setup: null,
      gates: gatesFrom({
        lint: check === undefined ? null : `${run} ${check}:check`,
        test: `${run} test`,
        build: `${run} package -DskipTests`,
      }),
      isWorkspace: pom.includes('<modules>'),
    }
  },
}

export const gradle: Ecosystem = {
  name: 'Gradle',
  marks: GRADLE,
  propose(folder) {
    const run = folder.has('gradlew') ? './gradlew' : 'gradle'
    const isKotlin = folder.text('build.gradle.kts').includes('kotlin(')
    return {
      language: isKotlin ? 'Kotlin' : 'Java',
      manager: 'gradle',
      prepare: null,
      setup: null,
      gates: { test: `${run} test`, build: `${run} assemble` },
      isWorkspace: firstOf(folder, GRADLE.slice(2)) !== null,
    }
  },
}
