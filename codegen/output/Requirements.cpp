//===- Requirements.cpp - what OUT asks of the system that runs it --------===//
//
// An ELF file lists the versions of glibc's symbols that it uses, "GLIBC_2.34",
// and the libraries that it is linked to. Only the MPI transport names an MPI.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/Requirements.h"

#include "runtime/Format.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;
using namespace mlir;
using Elf = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// Raises `glibc` to the highest version that the file's symbols have.
static llvm::Error raiseGlibc(const Elf &file, llvm::VersionTuple &glibc) {
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const Elf::Elf_Shdr &section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_GNU_verneed)
      continue;
    auto needs = file.getVersionDependencies(section);
    if (!needs)
      return needs.takeError();
    for (const llvm::object::VerNeed &need : *needs)
      for (const llvm::object::VernAux &symbol : need.AuxV) {
        StringRef name = symbol.Name.c_str(); // the rest of the table follows
        llvm::VersionTuple version;
        if (name.consume_front("GLIBC_") && !version.tryParse(name))
          glibc = std::max(glibc, version);
      }
  }
  return llvm::Error::success();
}

/// Notes the MPI that the file is linked to, if it is.
static llvm::Error findMpi(const Elf &file, std::string &mpi) {
  auto entries = file.dynamicEntries();
  if (!entries)
    return entries.takeError();
  const char *names = nullptr;
  for (const Elf::Elf_Dyn &entry : *entries)
    if (entry.d_tag == llvm::ELF::DT_STRTAB) {
      auto address = file.toMappedAddr(entry.getPtr());
      if (!address)
        return address.takeError();
      names = reinterpret_cast<const char *>(*address);
    }
  for (const Elf::Elf_Dyn &entry : *entries)
    if (names && entry.d_tag == llvm::ELF::DT_NEEDED &&
        StringRef(names + entry.getVal()).starts_with("libmpi"))
      mpi = names + entry.getVal();
  return llvm::Error::success();
}

FailureOr<Requirements> cleave::findRequirements(const OutFolder &folder) {
  Requirements requirements;
  for (const auto &[name, _] : folder.getFiles()) {
    auto buffer = llvm::MemoryBuffer::getFile(folder.getPath(name),
                                              /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!buffer)
      return folder.emitError() << "cannot read '" << folder.getPath(name)
                                << "': " << buffer.getError().message();
    StringRef bytes = (*buffer)->getBuffer();
    if (!bytes.starts_with(llvm::ELF::ElfMagic))
      continue;
    auto file = Elf::create(bytes);
    llvm::Error error =
        file ? raiseGlibc(*file, requirements.glibc) : file.takeError();
    if (!error && name == std::string(format::LibDir) + "/" + format::MpiLib)
      error = findMpi(*file, requirements.mpi);
    if (error)
      return folder.emitError() << "cannot read '" << folder.getPath(name)
                                << "': " << llvm::toString(std::move(error));
  }
  return requirements;
}
