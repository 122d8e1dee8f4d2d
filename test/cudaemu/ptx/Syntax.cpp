//===- Syntax.cpp - types, special registers and modifiers by name --------===//

#include "ptx/Syntax.h"
#include "ptx/Special.h"

#include <algorithm>

using namespace cudaemu::ptx;

namespace {
struct TypeRow {
  std::string_view name;
  Type type;
  unsigned bytes;
};
constexpr TypeRow types[] = {
    {"pred", Type::Pred, 4}, {"b8", Type::B8, 1},
    {"b16", Type::B16, 2},   {"b32", Type::B32, 4},
    {"b64", Type::B64, 8},   {"b128", Type::B128, 16},
    {"u8", Type::U8, 1},     {"u16", Type::U16, 2},
    {"u32", Type::U32, 4},   {"u64", Type::U64, 8},
    {"s8", Type::S8, 1},     {"s16", Type::S16, 2},
    {"s32", Type::S32, 4},   {"s64", Type::S64, 8},
    {"f16", Type::F16, 2},   {"f16x2", Type::F16x2, 4},
    {"bf16", Type::BF16, 2}, {"bf16x2", Type::BF16x2, 4},
    {"tf32", Type::TF32, 4}, {"f32", Type::F32, 4},
    {"f64", Type::F64, 8},
};

constexpr Special specials[] = {
    {"%tid.x", Special::Tid, 0, Type::U32},
    {"%tid.y", Special::Tid, 1, Type::U32},
    {"%tid.z", Special::Tid, 2, Type::U32},
    {"%ntid.x", Special::Ntid, 0, Type::U32},
    {"%ntid.y", Special::Ntid, 1, Type::U32},
    {"%ntid.z", Special::Ntid, 2, Type::U32},
    {"%ctaid.x", Special::Ctaid, 0, Type::U32},
    {"%ctaid.y", Special::Ctaid, 1, Type::U32},
    {"%ctaid.z", Special::Ctaid, 2, Type::U32},
    {"%nctaid.x", Special::Nctaid, 0, Type::U32},
    {"%nctaid.y", Special::Nctaid, 1, Type::U32},
    {"%nctaid.z", Special::Nctaid, 2, Type::U32},
    {"%laneid", Special::Laneid, 0, Type::U32},
    {"%warpid", Special::Warpid, 0, Type::U32},
    {"%nwarpid", Special::Nwarpid, 0, Type::U32},
    {"%smid", Special::Smid, 0, Type::U32},
    {"%nsmid", Special::Nsmid, 0, Type::U32},
    {"%gridid", Special::Gridid, 0, Type::U64},
    {"%lanemask_eq", Special::LanemaskEq, 0, Type::U32},
    {"%lanemask_lt", Special::LanemaskLt, 0, Type::U32},
    {"%lanemask_le", Special::LanemaskLe, 0, Type::U32},
    {"%lanemask_gt", Special::LanemaskGt, 0, Type::U32},
    {"%lanemask_ge", Special::LanemaskGe, 0, Type::U32},
    {"%clock", Special::Clock, 0, Type::U32},
    {"%clock_hi", Special::Clock, 1, Type::U32},
    {"%clock64", Special::Clock, 0, Type::U64},
    {"%globaltimer", Special::Clock, 0, Type::U64},
    {"WARP_SZ", Special::WarpSize, 0, Type::U32},
    {"%dynamic_smem_size", Special::DynamicSmem, 0, Type::U32},
    {"%clusterid.x", Special::Ctaid, 0, Type::U32},
    {"%clusterid.y", Special::Ctaid, 1, Type::U32},
    {"%clusterid.z", Special::Ctaid, 2, Type::U32},
    {"%nclusterid.x", Special::Nctaid, 0, Type::U32},
    {"%nclusterid.y", Special::Nctaid, 1, Type::U32},
    {"%nclusterid.z", Special::Nctaid, 2, Type::U32},
    {"%cluster_ctaid.x", Special::Zero, 0, Type::U32},
    {"%cluster_ctaid.y", Special::Zero, 1, Type::U32},
    {"%cluster_ctaid.z", Special::Zero, 2, Type::U32},
    {"%cluster_ctarank", Special::Zero, 0, Type::U32},
    {"%cluster_nctaid.x", Special::One, 0, Type::U32},
    {"%cluster_nctaid.y", Special::One, 1, Type::U32},
    {"%cluster_nctaid.z", Special::One, 2, Type::U32},
    {"%cluster_nctarank", Special::One, 0, Type::U32},
};
} // namespace

unsigned cudaemu::ptx::bytesOf(Type type) {
  for (const TypeRow &row : types)
    if (row.type == type)
      return row.bytes;
  return 0;
}

Type cudaemu::ptx::typeNamed(std::string_view name) {
  for (const TypeRow &row : types)
    if (row.name == name)
      return row.type;
  return Type::None;
}

const Special *cudaemu::ptx::specialNamed(std::string_view name) {
  const auto *found = std::find_if(
      std::begin(specials), std::end(specials),
      [&](const Special &special) { return special.name == name; });
  return found == std::end(specials) ? nullptr : found;
}

bool Statement::has(std::string_view modifier) const {
  return std::find(op.begin() + 1, op.end(), modifier) != op.end();
}

std::vector<Type> Statement::types() const {
  std::vector<Type> found;
  for (size_t i = 1; i < op.size(); ++i)
    if (Type type = typeNamed(op[i]); type != Type::None)
      found.push_back(type);
  return found;
}

std::string Statement::name() const {
  std::string joined = op[0];
  for (size_t i = 1; i < op.size(); ++i)
    joined += "." + op[i];
  return joined;
}
